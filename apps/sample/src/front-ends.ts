import type { INestApplication } from '@nestjs/common';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from 'nestjs-session-auth';

/**
 * Enables CORS with credentials for the origins in `cookies.trustedOrigins`. Other origins get no
 * `Access-Control-Allow-Origin` header, so browsers do not let their scripts read the responses.
 */
export function allowFrontEnds(app: INestApplication): void {
  const { trustedOrigins } = app.get<ResolvedAuthOptions>(AUTH_OPTIONS).cookies;
  if (trustedOrigins.length === 0) return;
  app.enableCors({
    origin: [...trustedOrigins],
    credentials: true,
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-Auth-Transport'],
    exposedHeaders: ['Retry-After', 'WWW-Authenticate'],
  });
}
