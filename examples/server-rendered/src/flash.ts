import type { Request, Response } from 'express';

/** Only codes travel in the cookie: another host of the site could set it, but not what the page says. */
const MESSAGES: Readonly<Record<string, string>> = {
  invalid_credentials: 'Wrong name or password.',
  too_many_attempts: 'Too many attempts. Try again later.',
  signed_out: 'You are signed out.',
};

/** Shows a message on the login page that the response redirects to. */
export function setFlash(response: Response, code: string): void {
  response.cookie('flash', code, { path: '/login', httpOnly: true, sameSite: 'lax', maxAge: 60_000 });
}

/** Returns the message, and removes it: it is shown once. */
export function takeFlash(request: Request, response: Response): string {
  const [, code] = /(?:^|; )flash=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
  if (code === undefined) return '';
  response.cookie('flash', '', { path: '/login', httpOnly: true, sameSite: 'lax', maxAge: 0 });
  return MESSAGES[code] ?? 'That did not work. Try again later.';
}
