import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AuthError, AuthService } from 'nestjs-session-auth';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create<NestExpressApplication>(AppModule);
  // No site can show the pages in a frame, and no form can be submitted without its script.
  const policy = "frame-ancestors 'none'; form-action 'none'";
  app.useStaticAssets('public', { setHeaders: (response) => response.setHeader('Content-Security-Policy', policy) });
  // In production, this user is not created, because the password is published.
  if (process.env.NODE_ENV !== 'production') {
    await app
      .get(AuthService)
      .createUser({ username: 'alice', password: 'correct horse battery staple' })
      .catch((error) => {
        // An earlier start created the user.
        if (!(error instanceof AuthError && error.code === 'username_taken')) throw error;
      });
  }
  const port = process.env.PORT ?? 3000;
  await app.listen(port, '127.0.0.1');
  console.log(`Open http://localhost:${port}/sessions.html`);
}
await bootstrap();
