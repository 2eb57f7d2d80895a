import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';
import { migrations } from './auth';
import { Drizzle, DrizzleModule } from './drizzle';

export async function createApp({ url }: { url: string }) {
  process.env['DATABASE_URL'] = url;
  const logger = ['error', 'warn'] as ('error' | 'warn')[];
  const migration = await NestFactory.createApplicationContext(DrizzleModule, { logger });
  await migration.get(Drizzle).migrate(migrations);
  await migration.close();
  return (await NestFactory.create(AppModule, { logger })).init();
}
