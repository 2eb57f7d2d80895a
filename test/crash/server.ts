import 'reflect-metadata';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AUTH_ENTITIES,
  AuthModule,
  BearerAuthGuard,
  CurrentSession,
  type AuthModuleOptions,
  type SessionInfo,
} from 'nestjs-session-auth';
import type { AddressInfo } from 'node:net';
import type { DataSourceOptions } from 'typeorm';
import { readOptions } from '../support/sqlite';

/**
 * An application in its own process, which can be killed at any moment. Sends its port and its signals to the
 * parent process.
 */
@Controller('me')
@UseGuards(BearerAuthGuard)
class MeController {
  @Get()
  me(@CurrentSession() session: SessionInfo): object {
    return { session_id: session.id };
  }
}

async function main(): Promise<void> {
  const database = readOptions<DataSourceOptions>(process.env['DATABASE']!);
  const options = JSON.parse(process.env['AUTH_OPTIONS']!) as AuthModuleOptions;
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...database, entities: [...AUTH_ENTITIES] }),
      EventEmitterModule.forRoot(),
      AuthModule.forRoot(options),
    ],
    controllers: [MeController],
  })
  class ApplicationModule {}
  const app = await NestFactory.create(ApplicationModule, { logger: ['error', 'warn'] });
  app.get(EventEmitter2).onAny((signal) => void process.send?.({ signal: String(signal) }));
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  process.send!({ port });
  // Without its parent, the server has no clients.
  process.on('disconnect', () => void app.close());
  // The parent does not disconnect, because then it would emit no `close` for this process.
  process.once('message', () => process.disconnect());
}

void main();
