import { Inject, Req, Res, UseGuards } from '@nestjs/common';
import { ClientInspector } from '../history/event-log';
import { Login } from '../login/login';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { remembersSessions } from '../options/resolve-options';
import { InSession } from '../passwords/in-session';
import { ReplacePassword } from '../passwords/replace-password';
import { OwnSessions } from '../sessions/own-sessions';
import { Refresh } from '../sessions/refresh';
import { BearerAuthGuard } from './bearer-auth.guard';
import { CookieRules } from './cookies/cookie-rules';
import { AuthEndpoint, DetailResponse, ProbeEndpoint, uuid } from './openapi';
import { type AuthRequest, type AuthResponse, operationOf, principalOf } from './request';
import { AcceptsRefreshCookie } from './route-rules';
import {
  LibraryController,
  LoginRequest,
  LogoutAllRequest,
  openedSessionResponse,
  OpenedSessionResponse,
  PasswordChangeRequest,
  readBody,
  ReauthenticateRequest,
  RefreshRequest,
  RememberingLoginRequest,
  tokenPairResponse,
  TokenPairResponse,
} from './wire-format';

/** The endpoints for login, refresh and logout. Handlers read the request, so that no pipe of the application applies. */
@LibraryController()
export class AuthController {
  /** @internal */
  constructor(
    private readonly logins: Login,
    private readonly refreshes: Refresh,
    private readonly sessions: OwnSessions,
    private readonly clients: ClientInspector,
    private readonly cookies: CookieRules,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /** `POST login/` opens a session. */
  @AuthEndpoint('POST', 'login', {
    id: 'authLogin',
    summary: 'Opens a session',
    body: RememberingLoginRequest,
    isPublic: true,
    returns: OpenedSessionResponse,
    returnsWithCookies: { properties: { session_id: uuid('The id of the new session.') }, required: ['session_id'] },
    errors: [
      'invalid_credentials',
      'login_refused',
      'session_limit_reached',
      'second_factor_required',
      'too_many_attempts',
    ],
  })
  async login(@Req() request: AuthRequest, @Res({ passthrough: true }) response: AuthResponse): Promise<object> {
    const inCookies = this.cookies.mode !== false && this.cookies.areSetFor(request);
    // Without the option, `remember_me` is an unknown field, which is ignored.
    const type = remembersSessions(this.options) ? RememberingLoginRequest : LoginRequest;
    const body: RememberingLoginRequest = await readBody(type, request);
    const credentials = { username: body.username, password: body.password, rememberMe: body.remember_me };
    const opened = await this.logins.login(credentials, operationOf(request, this.clients));
    return inCookies ? this.cookies.set(response, opened) : openedSessionResponse(opened);
  }

  /** `POST token/refresh/` exchanges a refresh token for a new pair. */
  @AuthEndpoint('POST', 'token/refresh', {
    id: 'authRefresh',
    summary: 'Exchanges a refresh token for a new pair. By default, reusing a token ends all sessions of its user',
    body: RefreshRequest,
    isBodyOptional: true,
    isPublic: true,
    returns: TokenPairResponse,
    returnsWithCookies: {},
    errors: ['invalid_refresh_token', 'credentials_ambiguous'],
  })
  async refresh(@Req() request: AuthRequest, @Res({ passthrough: true }) response: AuthResponse): Promise<object> {
    if (this.cookies.mode !== false && this.cookies.areSetFor(request)) {
      await this.cookies.refresh(request, response, operationOf(request, this.clients).client);
      return {};
    }
    const { refresh_token } = await readBody(RefreshRequest, request);
    return tokenPairResponse(await this.refreshes.refresh(refresh_token, operationOf(request, this.clients).client));
  }

  /** `HEAD token/refresh/` shows that the application runs. A client asks before it sends its refresh token. */
  @ProbeEndpoint('token/refresh')
  probe(): void {
    // The status is the response.
  }

  /** `POST logout/` ends the session of the request. */
  @UseGuards(BearerAuthGuard)
  @AcceptsRefreshCookie()
  @AuthEndpoint('POST', 'logout', {
    id: 'authLogout',
    summary: 'Ends the session of the request',
    returns: DetailResponse,
  })
  async logout(@Req() request: AuthRequest, @Res({ passthrough: true }) response: AuthResponse): Promise<object> {
    this.cookies.assertMayClear(request);
    const principal = principalOf(request);
    await this.sessions.logout(principal, operationOf(request, this.clients));
    if (!principal.actor) this.cookies.clearIfAllowed(request, response);
    return { detail: 'Logged out successfully.' };
  }

  /** `POST logout/all/` ends all sessions of the user, or all except the session of the request. */
  @UseGuards(BearerAuthGuard)
  @AuthEndpoint('POST', 'logout/all', {
    id: 'authLogoutAll',
    summary: 'Ends all sessions of the user, or all except the session of the request',
    body: LogoutAllRequest,
    isBodyOptional: true,
    returns: DetailResponse,
    errors: ['recent_login_required', 'not_allowed_while_impersonating'],
  })
  async logoutAll(@Req() request: AuthRequest, @Res({ passthrough: true }) response: AuthResponse): Promise<object> {
    this.cookies.assertMayClear(request);
    const { keep_current: keepCurrent = false } = await readBody(LogoutAllRequest, request);
    const principal = principalOf(request);
    this.sessions.assertMayEnd(principal);
    const ended = await this.sessions.logoutAll(principal, keepCurrent, operationOf(request, this.clients));
    if (!keepCurrent) this.cookies.clearIfAllowed(request, response);
    return { detail: `Revoked ${ended} session(s).` };
  }
}

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
  @AuthEndpoint('POST', 'password/change', {
    id: 'authChangePassword',
    summary: 'Changes the password and returns a new token pair for this session. By default, other sessions end',
    body: PasswordChangeRequest,
    returns: TokenPairResponse,
    returnsWithCookies: {},
    errors: ['too_many_attempts', 'not_allowed_while_impersonating'],
  })
  async change(@Req() request: AuthRequest, @Res({ passthrough: true }) response: AuthResponse): Promise<object> {
    const inCookies = this.cookies.mode !== false && this.cookies.areSetFor(request);
    const body = await readBody(PasswordChangeRequest, request);
    const change = { currentPassword: body.current_password, newPassword: body.new_password };
    const operation = operationOf(request, this.clients);
    const pair = (await this.replacements.change(principalOf(request), change, false, operation))!;
    return inCookies ? this.cookies.set(response, pair) : tokenPairResponse(pair);
  }
}

/** The endpoint for confirming the password within a session. Mounted with `endpoints: { reauthenticate: true }`. */
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
  @AuthEndpoint('POST', 'reauthenticate', {
    id: 'authReauthenticate',
    summary: 'Confirms the password within the session and returns a new token pair',
    body: ReauthenticateRequest,
    returns: TokenPairResponse,
    returnsWithCookies: {},
    errors: ['too_many_attempts', 'not_allowed_while_impersonating'],
  })
  async reauthenticate(
    @Req() request: AuthRequest,
    @Res({ passthrough: true }) response: AuthResponse,
  ): Promise<object> {
    const inCookies = this.cookies.mode !== false && this.cookies.areSetFor(request);
    const { password } = await readBody(ReauthenticateRequest, request);
    const operation = operationOf(request, this.clients);
    const pair = await this.inSession.reauthenticate(principalOf(request), password, operation);
    return inCookies ? this.cookies.set(response, pair) : tokenPairResponse(pair);
  }
}
