import { Controller, ForbiddenException, Header, HttpCode, Post, Req, UnauthorizedException } from '@nestjs/common';
import type { Request } from 'express';
import { Public } from 'nestjs-session-auth';
import { FormerSessions } from './former-sessions.js';
import { isFromOwnPage } from './own-page.js';

@Controller('exchange')
@Public() // for globalGuard: true
export class ExchangeController {
  constructor(private readonly former: FormerSessions) {}

  @Post()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async exchange(@Req() request: Request) {
    const { origin, 'sec-fetch-site': site } = request.headers;
    const isFromBrowser = origin !== undefined || site !== undefined;
    if (isFromBrowser && !isFromOwnPage(request)) throw new ForbiddenException();
    const opened = await this.former.takeOver(request);
    if (!opened) throw new UnauthorizedException();
    const { accessToken, refreshToken, sessionId } = opened;
    return { accessToken, refreshToken, sessionId };
  }
}
