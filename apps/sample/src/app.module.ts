import { Module, type DynamicModule } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, withAuthTables } from 'nestjs-session-auth';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { CreateSampleTables1760000000100 } from './create-tables.migration';
import { Mailer } from './mailer';
import { MeController } from './me.controller';
import { PageController } from './page.controller';
import { PageFiles } from './page-files';
import { PageSettings, SETTINGS } from './page-settings';
import type { Settings } from './read-settings';
import { SecurityAlert } from './security-alert.entity';
import { SecurityAlerts } from './security-alerts';
import { SecurityAlertsController } from './security-alerts.controller';
import { SecurityEmails } from './security-emails';
import { SecurityLog } from './security-log';
import { SessionEvents } from './session-events';
import { SessionEventsController } from './session-events.controller';
import { StolenCookieController } from './stolen-cookie.controller';
import { SupportController, SupportPolicy } from './support.controller';
import { User } from './user.entity';

const DAY_SECONDS = 86_400;

/** Returns the options of the DataSource, with the entities and migrations of the application and of the library. */
export function dataSourceOptions({ database }: Settings): DataSourceOptions {
  return withAuthTables(
    { ...database, entities: [User, SecurityAlert], migrations: [CreateSampleTables1760000000100] },
    { usersTable: false },
  );
}

@Module({})
export class AppModule {
  static with(settings: Settings, dataSource: DataSource): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => dataSource.options,
          dataSourceFactory: () => Promise.resolve(dataSource),
        }),
        TypeOrmModule.forFeature([SecurityAlert]),
        EventEmitterModule.forRoot(),
        AuthModule.forRoot({
          users: { entity: User, username: 'username', passwordHash: 'passwordHash', active: 'active' },
          rememberMe: { idleTimeoutSeconds: 30 * DAY_SECONDS, absoluteTimeoutSeconds: 180 * DAY_SECONDS },
          impersonationPolicy: new SupportPolicy(settings),
          ...settings.authOptions,
        }),
      ],
      controllers: [
        PageController,
        MeController,
        SecurityAlertsController,
        SessionEventsController,
        StolenCookieController,
        SupportController,
      ],
      providers: [
        Mailer,
        SecurityAlerts,
        SecurityEmails,
        SecurityLog,
        SessionEvents,
        PageSettings,
        { provide: SETTINGS, useValue: settings },
        { provide: PageFiles, useFactory: () => PageFiles.read(process.env) },
      ],
    };
  }
}
