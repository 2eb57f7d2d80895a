import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, AuthService } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { readOptions } from './sqlite';

/** Starts an application, serves requests and closes it. Afterwards nothing may keep the process alive. */
async function main(): Promise<void> {
  const options = readOptions<DataSourceOptions>(process.env['DATABASE']!);
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...options, entities: [...AUTH_ENTITIES], synchronize: true }),
      EventEmitterModule.forRoot(),
      AuthModule.forRoot({ refreshReuseGraceSeconds: 60, activityIntervalSeconds: 0 }),
    ],
  })
  class ApplicationModule {}
  const app = await NestFactory.create(ApplicationModule, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  const auth = app.get(AuthService);
  const credentials = { username: 'alice', password: 'correct horse battery staple' };
  await auth.createUser(credentials);
  const { refreshToken } = await auth.login(credentials);
  const { accessToken } = await auth.refresh(refreshToken);
  const answer = await fetch(`${await app.getUrl()}/auth/sessions`, {
    headers: { Authorization: `Bearer ${accessToken}` },
  });
  await app.close();
  console.log(`closed after ${answer.status}`);
}

void main();
