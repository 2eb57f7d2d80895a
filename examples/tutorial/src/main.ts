import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AuthService, AuthUser, PasswordHasher } from 'nestjs-session-auth';
import { EntityManager } from 'typeorm';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create<NestExpressApplication>(AppModule);
  // No site can show the pages in a frame, and no form can be submitted without its script.
  const policy = "frame-ancestors 'none'; form-action 'none'";
  app.useStaticAssets('public', { setHeaders: (response) => response.setHeader('Content-Security-Policy', policy) });
  const alice = { username: 'alice', password: 'correct horse battery staple' };
  const isProduction = process.env.NODE_ENV === 'production'; // the password of alice is published
  const select = { id: true, passwordHash: true };
  const stored = await app.get(EntityManager).findOne(AuthUser, { select, where: { username: alice.username } });
  const isPublished = await app.get(PasswordHasher).verify(alice.password, stored?.passwordHash ?? '');
  if (isProduction && isPublished) throw new Error('Change the published password of alice, or use a new database.');
  if (!isProduction && !stored) await app.get(AuthService).createUser(alice);
  const port = process.env.PORT ?? 3000;
  await app.listen(port, '127.0.0.1');
  console.log(`Open http://localhost:${port}/sessions.html`);
}
await bootstrap();
