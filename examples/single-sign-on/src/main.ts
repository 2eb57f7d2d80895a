import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { ServerResponse } from 'node:http';
import { AppModule } from './app.module.js';

export const app = await NestFactory.create<NestExpressApplication>(AppModule);
// No site can show the page in a frame, in which a user could be made to click on something.
const policy = "frame-ancestors 'none'";
const setHeaders = (response: ServerResponse) => response.setHeader('Content-Security-Policy', policy);
app.useStaticAssets('public', { extensions: ['html'], setHeaders });
await app.listen(process.env['PORT'] ?? 3000, '127.0.0.1');
