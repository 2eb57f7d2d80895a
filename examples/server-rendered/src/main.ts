import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AuthError, AuthService } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { AppModule } from './app.module.js';

async function main(): Promise<void> {
  const database = { type: 'better-sqlite3', driver: NodeSqlite, database: 'example.sqlite' } as const;
  const isProduction = process.env['NODE_ENV'] === 'production';
  const app = await NestFactory.create(AppModule.on(database, isProduction));
  const alice = { username: 'alice', password: 'correct horse battery staple' };
  // The password of alice is published.
  if (!isProduction) await app.get(AuthService).createUser(alice).catch(ignoreTaken);
  const port = Number(process.env['PORT'] ?? 3000);
  await app.listen(port, '127.0.0.1');
  console.log(`Open http://localhost:${port}`, isProduction ? '' : alice);
}

/** An earlier start created the user. */
function ignoreTaken(error: unknown): void {
  if (!(error instanceof AuthError && error.code === 'username_taken')) throw error;
}

void main();
