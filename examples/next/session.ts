import { ServerSession } from 'nestjs-session-auth-client/ssr';

/** @param headers the headers of the browser's request */
export const sessionOf = (headers: { get(name: string): string | null }) =>
  new ServerSession({
    baseUrl: process.env['API'] ?? 'http://127.0.0.1:3000',
    origin: `http://localhost:${process.env['PORT'] ?? 4000}`,
    headers,
  });
