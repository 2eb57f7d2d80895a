import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthService, AuthUser, PasswordHasher, withAuthTables } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { EntityManager } from 'typeorm';
import { PasskeysController } from './passkeys.controller.js';
import { ORIGIN, Passkey, PasskeyChallenge, Passkeys } from './passkeys.service.js';

const sqlite = { type: 'better-sqlite3', driver: NodeSqlite, database: process.env['DB'] ?? 'example.sqlite' } as const;

@Module({
  imports: [
    TypeOrmModule.forRoot(withAuthTables({ ...sqlite, entities: [Passkey, PasskeyChallenge], synchronize: true })),
    EventEmitterModule.forRoot(),
    AuthModule.forRoot({ cookies: { mode: 'only', secure: ORIGIN.startsWith('https:') }, secondFactor: Passkeys }),
  ],
  controllers: [PasskeysController],
  providers: [Passkeys],
})
class AppModule {}

// The routes need little, and a large crafted response of an authenticator takes seconds to decode.
const adapter = new FastifyAdapter({ bodyLimit: 16_384, routerOptions: { ignoreTrailingSlash: true } });
export const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter);
const policy = "default-src 'self'; form-action 'none'; frame-ancestors 'none'";
adapter.getInstance().addHook('onRequest', async (_, reply) => void reply.header('Content-Security-Policy', policy));
app.useStaticAssets({ root: `${import.meta.dirname}/../../public` });
const alice = { username: 'alice', password: 'correct horse battery staple' };
const isProduction = process.env['NODE_ENV'] === 'production'; // the password of alice is published
const select = { id: true, passwordHash: true };
const stored = await app.get(EntityManager).findOne(AuthUser, { select, where: { username: alice.username } });
const isPublished = await app.get(PasswordHasher).verify(alice.password, stored?.passwordHash ?? '');
if (isProduction && isPublished) throw new Error('The password of alice is published. Change it, or delete the user.');
if (!isProduction && !stored) await app.get(AuthService).createUser(alice);
await app.listen(process.env['PORT'] ?? 3000, '127.0.0.1');
console.log(`Open ${ORIGIN}`, isProduction ? '' : alice);
