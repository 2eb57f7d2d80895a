import type { Request, Response } from 'express';

/** The cookie contains only a code. Another host of the site can set the cookie, but cannot inject its own text. */
const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['invalid_credentials', 'Wrong name or password.'],
  ['too_many_attempts', 'Too many attempts. Try again later.'],
  ['signed_out', 'You are signed out.'],
]);

/** Sets the message that the login page shows after a redirect. */
export function setFlash(response: Response, code: string): void {
  response.cookie('flash', code, { path: '/login', httpOnly: true, sameSite: 'lax', maxAge: 60_000 });
}

/** Returns the message, and deletes it so that it is shown only once. */
export function takeFlash(request: Request, response: Response): string {
  const [, code] = /(?:^|; )flash=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
  if (code === undefined) return '';
  response.cookie('flash', '', { path: '/login', httpOnly: true, sameSite: 'lax', maxAge: 0 });
  return MESSAGES.get(code) ?? 'Something went wrong. Try again later.';
}
