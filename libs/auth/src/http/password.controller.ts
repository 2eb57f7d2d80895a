import { Post, Req, Res, UseGuards } from '@nestjs/common';
import { AuthService } from '../auth.service';
import { BearerAuthGuard } from './bearer-auth.guard';
import { PasswordChangeRequest, readBody, ReauthenticateRequest, tokenPairResponse, TokenPairResponse } from './bodies';
import { CookieRules, type Delivered } from './cookies/cookie-rules';
import { AuthEndpoint, LibraryController } from './openapi';
import { type AuthRequest, type AuthResponse, clientOfLibraryRoute, principalOf } from './request';

/** The endpoint for changing the password within a session. Mounted if the user store can set passwords. */
@LibraryController()
@UseGuards(BearerAuthGuard)
export class PasswordController {
  constructor(
    private readonly auth: AuthService,
    private readonly cookies: CookieRules,
  ) {}

  /** `POST password/change/` changes the password. */
  @Post('password/change')
  @AuthEndpoint({
    id: 'authChangePassword',
    summary: 'Changes the password and returns a new token pair for this session. By default, other sessions end',
    body: PasswordChangeRequest,
    isPost: true,
    returns: TokenPairResponse,
    returnsWithCookies: {},
    errors: ['too_many_attempts'],
  })
  async change(
    @Req() request: AuthRequest,
    @Res({ passthrough: true }) response: AuthResponse,
  ): Promise<TokenPairResponse | Delivered> {
    this.cookies.assertMaySet(request);
    const body = await readBody(PasswordChangeRequest, request);
    const change = { currentPassword: body.current_password, newPassword: body.new_password };
    const pair = await this.auth.changePassword(principalOf(request), change, clientOfLibraryRoute(request));
    return this.cookies.deliver(request, response, pair, tokenPairResponse(pair));
  }
}

/** The endpoint for confirming the password within a session. Mounted if `recentLogin.endpoint` is true. */
@LibraryController()
@UseGuards(BearerAuthGuard)
export class ReauthenticationController {
  constructor(
    private readonly auth: AuthService,
    private readonly cookies: CookieRules,
  ) {}

  /** `POST reauthenticate/` confirms the password. */
  @Post('reauthenticate')
  @AuthEndpoint({
    id: 'authReauthenticate',
    summary: 'Confirms the password within the session and returns a new token pair',
    body: ReauthenticateRequest,
    isPost: true,
    returns: TokenPairResponse,
    returnsWithCookies: {},
    errors: ['too_many_attempts'],
  })
  async reauthenticate(
    @Req() request: AuthRequest,
    @Res({ passthrough: true }) response: AuthResponse,
  ): Promise<TokenPairResponse | Delivered> {
    this.cookies.assertMaySet(request);
    const { password } = await readBody(ReauthenticateRequest, request);
    const pair = await this.auth.reauthenticate(principalOf(request), password, clientOfLibraryRoute(request));
    return this.cookies.deliver(request, response, pair, tokenPairResponse(pair));
  }
}
