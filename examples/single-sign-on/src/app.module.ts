import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, withAuthTables } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { Account, LogoutToken } from './entities.js';
import { IS_SECURE } from './provider.js';
import { SsoController } from './sso.controller.js';

const sqlite = { type: 'better-sqlite3', driver: NodeSqlite, database: process.env['DB'] ?? 'example.sqlite' } as const;

@Module({
  imports: [
    TypeOrmModule.forRoot(withAuthTables({ ...sqlite, entities: [Account, LogoutToken], synchronize: true })),
    EventEmitterModule.forRoot(),
    AuthModule.forRoot({ cookies: { mode: 'only', secure: IS_SECURE } }),
  ],
  controllers: [SsoController],
})
export class AppModule {}
