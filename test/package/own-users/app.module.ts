import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { AUTH_ENTITIES_WITHOUT_USERS, AuthModule, type AuthModuleOptions } from 'nestjs-session-auth';
import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { DrivenClock } from 'nestjs-session-auth/testing';
import { DataSource } from 'typeorm';
import { AccountController } from './account.controller.js';
import { AdministrationController } from './administration.controller.js';
import { ArchiveController, BareArchiveController, CatalogController, ErrorsController } from './catalog.controller.js';
import { DriverController, Recording } from './driver.controller.js';
import { Member, Members } from './member.entity.js';
import { People } from './people.js';
import { Employee, Staff, StaffStore } from './staff.js';

const given = JSON.parse(process.env['APPLICATION_DATABASE']!) as TypeOrmModuleOptions;
const database = given.type === 'better-sqlite3' && hasNodeSqlite() ? { ...given, driver: NodeSqlite } : given;
const isMapped = process.env['APPLICATION_USERS'] === 'entity';

export const clock = new DrivenClock();

const common: AuthModuleOptions = {
  bcryptCost: 6,
  // A small queue, so that a flood fills it.
  hashing: { concurrent: 2, waiting: 24 },
  refreshReuseGraceSeconds: 10,
  recentLogin: { endpoint: true },
  history: { maxRowsPerUser: 100 },
};

@Module({
  imports: [
    TypeOrmModule.forRoot({
      ...database,
      entities: [isMapped ? Member : Employee, ...AUTH_ENTITIES_WITHOUT_USERS],
      synchronize: true,
    }),
    EventEmitterModule.forRoot(),
    isMapped
      ? AuthModule.forRoot({
          ...common,
          nameMatching: 'insensitive',
          users: {
            entity: Member,
            username: 'email',
            foldedUsername: 'foldedEmail',
            passwordHash: 'password',
            disabledAt: 'disabledAt',
          },
        })
      : AuthModule.forRoot({ ...common, users: StaffStore, globalGuard: true }),
  ],
  controllers: [
    AccountController,
    AdministrationController,
    CatalogController,
    ArchiveController,
    BareArchiveController,
    ErrorsController,
    DriverController,
  ],
  providers: [
    Recording,
    { provide: DrivenClock, useValue: clock },
    {
      provide: People,
      useFactory: (dataSource: DataSource): People => (isMapped ? new Members(dataSource) : new Staff(dataSource)),
      inject: [DataSource],
    },
  ],
})
export class AppModule {}
