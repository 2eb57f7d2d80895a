import { DynamicModule, Global, Module, ValidationPipe, VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSourceOptions } from 'typeorm';
import { AuthModule, withTables } from './auth';
import { CreateUsers1700000000000 } from './create-users.migration';
import { Role, User } from './user.entity';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([User]), AuthModule],
  controllers: [UsersController],
  providers: [UsersService],
  exports: [UsersService],
})
export class AppModule {
  static on(database: DataSourceOptions): DynamicModule {
    const migrations = [CreateUsers1700000000000];
    const options = { ...database, entities: [Role, User], migrations, migrationsRun: true };
    return { module: AppModule, imports: [TypeOrmModule.forRoot(withTables(options))] };
  }
}

export async function createApp(database: DataSourceOptions) {
  const app = await NestFactory.create(AppModule.on(database), { logger: ['error', 'warn'] });
  app.setGlobalPrefix('api');
  app.enableVersioning({ type: VersioningType.URI });
  app.useGlobalPipes(new ValidationPipe({ whitelist: true }));
  return app.init();
}
