import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AuthError, AuthService } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { AppModule } from './app.module.js';

async function main(): Promise<void> {
  const database = { type: 'better-sqlite3', driver: NodeSqlite, database: 'example.sqlite' } as const;
  const app = await NestFactory.create(AppModule.on(database, process.env['NODE_ENV'] === 'production'));
  const alice = { username: 'alice', password: 'correct horse battery staple' };
  const auth = app.get(AuthService);
  await auth.createUser(alice).catch((error: unknown) => {
    // An earlier start created the user.
    if (!(error instanceof AuthError && error.code === 'username_taken')) throw error;
  });
  const port = Number(process.env['PORT'] ?? 3000);
  await app.listen(port, '127.0.0.1');
  console.log(`Open http://localhost:${port} and sign in as ${alice.username} with the password: ${alice.password}`);
}

void main();
