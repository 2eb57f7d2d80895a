import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';

export const app = await NestFactory.create<NestExpressApplication>(AppModule);
const policy = "frame-ancestors 'none'"; // no site can show the page in a frame
app.useStaticAssets('public', {
  extensions: ['html'],
  setHeaders: (response) => response.setHeader('Content-Security-Policy', policy),
});
await app.listen(process.env['PORT'] ?? 3000, '127.0.0.1');
