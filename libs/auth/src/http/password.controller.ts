import { Post, Req, Res, UseGuards } from '@nestjs/common';
import { ClientInspector } from '../history/event-log';
import { InSession } from '../passwords/in-session';
import { ReplacePassword } from '../passwords/replace-password';
import { BearerAuthGuard } from './bearer-auth.guard';
import { CookieRules, type Delivered } from './cookies/cookie-rules';
import { AuthEndpoint } from './openapi';
import { type AuthRequest, type AuthResponse, operationOf, principalOf, usesCookies } from './request';
import {
  LibraryController,
  PasswordChangeRequest,
  readBody,
  ReauthenticateRequest,
  tokenPairResponse,
  TokenPairResponse,
} from './wire-format';

/** The endpoint for changing the password within a session. Mounted if the user store can set passwords. */
@LibraryController()
@UseGuards(BearerAuthGuard)
export class PasswordController {
  /** @internal */
  constructor(
    private readonly replacements: ReplacePassword,
    private readonly clients: ClientInspector,
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
    const inCookies = usesCookies(request, this.cookies.mode);
    if (inCookies) this.cookies.assertMaySet(request);
    const body = await readBody(PasswordChangeRequest, request);
    const change = { currentPassword: body.current_password, newPassword: body.new_password };
    const pair = await this.replacements.change(principalOf(request), change, operationOf(request, this.clients));
    return inCookies ? this.cookies.set(response, pair) : tokenPairResponse(pair);
  }
}

/** The endpoint for confirming the password within a session. Mounted if `recentLogin.endpoint` is true. */
@LibraryController()
@UseGuards(BearerAuthGuard)
export class ReauthenticationController {
  /** @internal */
  constructor(
    private readonly inSession: InSession,
    private readonly clients: ClientInspector,
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
    const inCookies = usesCookies(request, this.cookies.mode);
    if (inCookies) this.cookies.assertMaySet(request);
    const { password } = await readBody(ReauthenticateRequest, request);
    const pair = await this.inSession.reauthenticate(
      principalOf(request),
      password,
      operationOf(request, this.clients),
    );
    return inCookies ? this.cookies.set(response, pair) : tokenPairResponse(pair);
  }
}
