import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, withAuthTables } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { Authenticator, FactorToken } from './entities.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactors } from './second-factors.service.js';

const database = process.env['DATABASE'] ?? 'example.sqlite';
const sqlite = { type: 'better-sqlite3', driver: NodeSqlite, database, synchronize: true } as const;

@Module({
  imports: [
    TypeOrmModule.forRoot(withAuthTables({ ...sqlite, entities: [Authenticator, FactorToken] })),
    EventEmitterModule.forRoot(),
    AuthModule.forRoot({ secondFactor: SecondFactors, endpoints: { reauthenticate: true } }),
  ],
  controllers: [SecondFactorController],
  providers: [SecondFactors],
})
export class AppModule {}
