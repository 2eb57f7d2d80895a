import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { AuthCookies } from 'nestjs-session-auth';
import { FormerSessions } from './former-sessions.js';
import { isFromOwnPage } from './own-page.js';

/** Matches the library's cookies. */
const NEW_COOKIES = /(?:^|; ?)__Host-auth_(?:access|refresh)=/;

const RELOAD = '<!doctype html><meta http-equiv="refresh" content="0"><title>One moment</title>';

/** Takes over the former session that a request presents. */
@Injectable()
export class TakeOverMiddleware implements NestMiddleware {
  constructor(
    private readonly former: FormerSessions,
    private readonly cookies: AuthCookies,
  ) {}

  async use(request: Request, response: Response, next: NextFunction): Promise<void> {
    const { headers, method } = request;
    if (headers.authorization !== undefined || this.former.userOf(request) === undefined) return next();
    if (NEW_COOKIES.test(headers.cookie ?? '')) {
      // After a logout, the former session must not sign the user in again.
      await this.former.retire(request);
      return next();
    }
    if (!isFromOwnPage(request)) {
      // The user followed a link on another site. The page reloads itself, so that the next request is its own.
      const isLink = method === 'GET' && headers['sec-fetch-dest'] === 'document';
      if (!isLink) return next();
      response.setHeader('Cache-Control', 'no-store');
      response.type('html').send(RELOAD);
      return;
    }
    const opened = await this.former.takeOver(request);
    if (opened) {
      this.cookies.set(request, response, opened);
      // The browser sends the cookies only with its next request, so this request gets the token in a header.
      headers.authorization = `Bearer ${opened.accessToken}`;
      headers['x-auth-transport'] = 'cookie';
    }
    next();
  }
}
