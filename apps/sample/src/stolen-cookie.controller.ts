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
 * Simulates a thief who has copied the refresh cookie from the browser's disk. The page cannot do
 * this itself, because no script can read the cookie. The new tokens are discarded. A real
 * application does not need such a route.
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
