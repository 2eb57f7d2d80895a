import { DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSourceOptions } from 'typeorm';
import { AuthModule, withTables } from './auth';
import { CreateUsers1700000000000 } from './create-users.migration';
import { UsersModule } from './users.module';

@Module({})
export class AppModule {
  static on(database: DataSourceOptions): DynamicModule {
    const migrations = [CreateUsers1700000000000];
    const options = { ...database, migrations, migrationsRun: true, autoLoadEntities: true };
    return { module: AppModule, imports: [TypeOrmModule.forRoot(withTables(options)), UsersModule, AuthModule] };
  }
}
