import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, withAuthTables } from 'nestjs-session-auth';
import { NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { AppController } from './app.controller.js';
import { AppService } from './app.service.js';
import { MeController } from './me.controller.js';
import { SecurityAlerts } from './security-alerts.js';

@Module({
  imports: [
    TypeOrmModule.forRoot(
      withAuthTables({
        // TypeORM's name for this driver. NodeSqlite replaces the better-sqlite3 package.
        type: 'better-sqlite3',
        driver: NodeSqlite,
        database: 'shop.sqlite',
        migrationsRun: true,
      }),
    ),
    EventEmitterModule.forRoot(),
    // For step 4. For development, `secure: false` allows cookies over http on localhost.
    AuthModule.forRoot({ cookies: { mode: 'optional', secure: false } }),
  ],
  controllers: [AppController, MeController],
  providers: [AppService, SecurityAlerts],
})
export class AppModule {}
