import { Module, type DynamicModule } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, withAuthTables } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { PageGuard } from './page.guard.js';
import { PagesController } from './pages.controller.js';

@Module({})
export class AppModule {
  /** @param secure set to false in development only: cookies then work over http, and only on localhost */
  static on(database: DataSourceOptions, secure: boolean): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot(withAuthTables({ ...database, migrationsRun: true })),
        EventEmitterModule.forRoot(),
        // The pages replace the routes of the library.
        AuthModule.forRoot({ cookies: { mode: 'only', secure }, controllers: false }),
      ],
      controllers: [PagesController],
      providers: [PageGuard],
    };
  }
}
