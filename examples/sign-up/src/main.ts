import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';

const { NODE_ENV, SMTP_URL, PUBLIC_URL, TRUST_PROXY = false, PORT = '3000' } = process.env;
if (NODE_ENV === 'production' && !(SMTP_URL && PUBLIC_URL)) throw new Error('Set SMTP_URL and PUBLIC_URL.');
const app = await NestFactory.create<NestExpressApplication>(AppModule, { bodyParser: false });
// Without the parser for forms, a form of another site cannot request an email from the visitor's network.
app.useBodyParser('json');
app.set('trust proxy', TRUST_PROXY);
const policy = "frame-ancestors 'none'"; // no site can show the page in a frame
app.useStaticAssets('public', { setHeaders: (response) => response.setHeader('Content-Security-Policy', policy) });
await app.listen(PORT, '127.0.0.1');
console.log(`Open http://localhost:${PORT}. ${SMTP_URL ? '' : 'Emails are printed here: SMTP_URL is not set.'}`);
