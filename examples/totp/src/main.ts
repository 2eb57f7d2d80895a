import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AuthService, AuthUser, PasswordHasher } from 'nestjs-session-auth';
import { EntityManager } from 'typeorm';
import { AppModule } from './app.module.js';

const app = await NestFactory.create<NestExpressApplication>(AppModule, { bodyParser: false });
// Without the parser for forms, a form of another site cannot send a wrong password from the visitor's network.
app.useBodyParser('json');
const policy = "frame-ancestors 'none'"; // no site can show the page in a frame
app.useStaticAssets('public', { setHeaders: (response) => response.setHeader('Content-Security-Policy', policy) });
const alice = { username: 'alice', password: 'correct horse battery staple' };
const isProduction = process.env['NODE_ENV'] === 'production'; // the password of alice is published
const select = { id: true, passwordHash: true };
const stored = await app.get(EntityManager).findOne(AuthUser, { select, where: { username: alice.username } });
const isPublished = await app.get(PasswordHasher).verify(alice.password, stored?.passwordHash ?? '');
if (isProduction && isPublished) throw new Error('The password of alice is published. Change it, or delete the user.');
if (!isProduction && !stored) await app.get(AuthService).createUser(alice);
const port = Number(process.env['PORT'] ?? 3000);
await app.listen(port, '127.0.0.1');
console.log(`Open http://localhost:${port}`, isProduction ? '' : alice);
