import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AuthService, AuthUser, PasswordHasher } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { EntityManager } from 'typeorm';
import { AppModule } from './app.module.js';

async function main(): Promise<void> {
  const database = { type: 'better-sqlite3', driver: NodeSqlite, database: 'example.sqlite' } as const;
  const isProduction = process.env['NODE_ENV'] === 'production';
  const app = await NestFactory.create(AppModule.on(database, isProduction));
  const alice = { username: 'alice', password: 'correct horse battery staple' };
  // The password of alice is published.
  const select = { id: true, passwordHash: true };
  const stored = await app.get(EntityManager).findOne(AuthUser, { select, where: { username: alice.username } });
  const isPublished = await app.get(PasswordHasher).verify(alice.password, stored?.passwordHash ?? '');
  if (isProduction && isPublished) throw new Error('Change the published password of alice, or use a new database.');
  if (!isProduction && !stored) await app.get(AuthService).createUser(alice);
  const port = Number(process.env['PORT'] ?? 3000);
  await app.listen(port, '127.0.0.1');
  console.log(`Open http://localhost:${port}`, isProduction ? '' : alice);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
