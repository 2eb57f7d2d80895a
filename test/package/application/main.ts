import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { AuthService, AuthUser } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { tryOpenApi } from './openapi.js';
import { tryTestingKit } from './testing-kit.js';

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.init();
  await tryOpenApi(app);
  const auth = app.get(AuthService);
  await auth.createUser({ username: 'bob', password: 'correct horse battery staple' });
  const bob = await app.get(DataSource).getRepository(AuthUser).findOneByOrFail({ username: 'bob' });
  await tryTestingKit(app, bob);
  await auth.createUser({ username: 'alice', password: 'correct horse battery staple' });
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  console.log(`listening ${port}`);
}
void main();
