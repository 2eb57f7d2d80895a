import { BadRequestException, Controller, HttpCode, Inject, Post, Req, UseGuards } from '@nestjs/common';
import {
  AUTH_OPTIONS,
  AuthService,
  BearerAuthGuard,
  clientInfoOf,
  type AuthRequest,
  type ResolvedAuthOptions,
} from 'nestjs-session-auth';
import { cookieNames } from './page-settings';

/**
 * Plays a thief for the page, who has copied the refresh cookie from the disk of the browser: no script on the page can read
 * it. The thief's new tokens are thrown away. Only the sample needs such a route.
 */
@Controller('stolen-cookie')
@UseGuards(BearerAuthGuard)
export class StolenCookieController {
  constructor(
    private readonly auth: AuthService,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  @Post()
  @HttpCode(204)
  async use(@Req() request: AuthRequest): Promise<void> {
    const name = `${cookieNames(this.options)?.refresh}=`;
    const cookies = String(request.headers['cookie'] ?? '').split('; ');
    const stolen = cookies.find((cookie) => cookie.startsWith(name))?.slice(name.length);
    if (!stolen) throw new BadRequestException('The request has no refresh cookie.');
    await this.auth.refresh(stolen, clientInfoOf(request));
  }
}
