import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AUTH_MIGRATIONS, AuthModule } from 'nestjs-session-auth';
import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { Alerts, AlertsController } from './alerts.js';
import { MeController } from './me.controller.js';

const given = JSON.parse(process.env['APPLICATION_DATABASE']!) as TypeOrmModuleOptions;
const database = given.type === 'better-sqlite3' && hasNodeSqlite() ? { ...given, driver: NodeSqlite } : given;

@Module({
  imports: [
    TypeOrmModule.forRoot({
      ...database,
      entities: [...AUTH_ENTITIES],
      migrations: [...AUTH_MIGRATIONS],
      migrationsRun: true,
    }),
    EventEmitterModule.forRoot(),
    AuthModule.forRoot({ sessionPolicy: 'max_count', maxSessions: 10, bcryptCost: 10 }),
  ],
  controllers: [MeController, AlertsController],
  providers: [Alerts],
})
export class AppModule {}
