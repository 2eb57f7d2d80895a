import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSourceOptions } from 'typeorm';
import { AppModule } from './app.module';

export async function createApp(database: DataSourceOptions) {
  const app = await NestFactory.create(AppModule.on(database), { logger: ['error', 'warn'] });
  app.setGlobalPrefix('api');
  app.useGlobalPipes(new ValidationPipe({ whitelist: true }));
  return app.init();
}
