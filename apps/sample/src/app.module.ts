import { Module, type DynamicModule } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES_WITHOUT_USERS, AUTH_MIGRATIONS_WITHOUT_USERS, AuthModule } from 'nestjs-session-auth';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { CreateSampleTables1760000000100 } from './create-tables.migration';
import { MeController } from './me.controller';
import type { Settings } from './read-settings';
import { SecurityAlert } from './security-alert.entity';
import { SecurityAlerts } from './security-alerts';
import { SecurityAlertsController } from './security-alerts.controller';
import { User } from './user.entity';
import { WelcomeController } from './welcome.controller';

/** The host's DataSource: its own tables and those of the library. */
export function dataSourceOptions({ database }: Settings): DataSourceOptions {
  return {
    ...database,
    entities: [User, SecurityAlert, ...AUTH_ENTITIES_WITHOUT_USERS],
    migrations: [CreateSampleTables1760000000100, ...AUTH_MIGRATIONS_WITHOUT_USERS],
  };
}

@Module({})
export class AppModule {
  static with({ authOptions }: Settings, dataSource: DataSource): DynamicModule {
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
          ...authOptions,
        }),
      ],
      controllers: [WelcomeController, MeController, SecurityAlertsController],
      providers: [SecurityAlerts],
    };
  }
}
