import { Module, type ExecutionContext } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { ScheduleModule } from '@nestjs/schedule';
import { minutes, ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Request } from 'express';
import { AuthModule, withAuthTables } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { AccountsController } from './accounts.controller.js';
import { Mail, User } from './entities.js';
import { Mails } from './mails.service.js';

const database = process.env['DATABASE'] ?? 'example.sqlite';
const sqlite = { type: 'better-sqlite3', driver: NodeSqlite, database, synchronize: true } as const;
const users = { entity: User, username: 'email', foldedUsername: 'folded', passwordHash: 'hash', active: 'active' };
// The routes refuse forms, so a form of another site must not count against the visitor's network.
const isNotJson = (context: ExecutionContext) => !context.switchToHttp().getRequest<Request>().is('json');

@Module({
  imports: [
    TypeOrmModule.forRoot(withAuthTables({ ...sqlite, entities: [User, Mail] }, { usersTable: false })),
    TypeOrmModule.forFeature([User, Mail]),
    EventEmitterModule.forRoot(),
    ScheduleModule.forRoot(),
    ThrottlerModule.forRoot([{ ttl: minutes(10), limit: 20, skipIf: isNotJson }]),
    AuthModule.forRoot({ nameMatching: 'insensitive', users }),
  ],
  controllers: [AccountsController],
  providers: [Mails],
})
export class AppModule {}
