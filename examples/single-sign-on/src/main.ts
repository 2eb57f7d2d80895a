import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';

export const app = await NestFactory.create<NestExpressApplication>(AppModule);
app.useStaticAssets('public', { extensions: ['html'] });
await app.listen(process.env['PORT'] ?? 3000, '127.0.0.1');
