import { Controller, Post, Req, UseFilters, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { AuthService } from '../../services/auth.service';
import { BearerAuthGuard } from '../guards/bearer-auth.guard';
import { Public } from '../guards/decorators';
import { clientOfLibraryRoute, principalOf, type AuthRequest } from '../platform/request';
import { AuthEndpoint } from './auth-endpoint.decorator';
import { LoginRequest, LogoutAllRequest, RefreshRequest } from './dto/requests';
import {
  type DetailResponse,
  openedSessionResponse,
  OpenedSessionResponse,
  tokenPairResponse,
  TokenPairResponse,
} from './dto/responses';
import { LibraryRouteFilter } from './library-route.filter';
import { readBody } from './read-body';

/** Login, refresh and logout. Handlers read the request itself, past the application's pipes. */
@Controller({ version: VERSION_NEUTRAL })
@UseFilters(LibraryRouteFilter)
@UseGuards(BearerAuthGuard)
export class AuthController {
  constructor(protected readonly auth: AuthService) {}

  /** `POST login/` opens a session. */
  @Public()
  @Post('login')
  @AuthEndpoint({
    id: 'authLogin',
    summary: 'Opens a session',
    body: LoginRequest,
    returns: OpenedSessionResponse,
    errors: ['invalid_credentials', 'session_limit_reached', 'too_many_attempts'],
  })
  async login(@Req() request: AuthRequest): Promise<OpenedSessionResponse> {
    const credentials = await readBody(LoginRequest, request);
    return openedSessionResponse(await this.auth.login(credentials, clientOfLibraryRoute(request)));
  }

  /** `POST token/refresh/` returns the pair that follows a refresh token. */
  @Public()
  @Post('token/refresh')
  @AuthEndpoint({
    id: 'authRefresh',
    summary: 'Returns a new token pair for a refresh token. Reusing a refresh token ends every session of the user',
    body: RefreshRequest,
    returns: TokenPairResponse,
    errors: ['invalid_refresh_token'],
  })
  async refresh(@Req() request: AuthRequest): Promise<TokenPairResponse> {
    const { refresh_token } = await readBody(RefreshRequest, request);
    return tokenPairResponse(await this.auth.refresh(refresh_token, clientOfLibraryRoute(request)));
  }

  /** `POST logout/` ends the session of the request. */
  @Post('logout')
  @AuthEndpoint({ id: 'authLogout', summary: 'Ends the session of the request', returns: 'Logged out successfully.' })
  async logout(@Req() request: AuthRequest): Promise<DetailResponse> {
    await this.auth.logout(principalOf(request), clientOfLibraryRoute(request));
    return { detail: 'Logged out successfully.' };
  }

  /** `POST logout/all/` ends all sessions of the user, or all but the session of the request. */
  @Post('logout/all')
  @AuthEndpoint({
    id: 'authLogoutAll',
    summary: 'Ends all sessions of the user, or all but the session of the request',
    body: LogoutAllRequest,
    returns: 'Revoked 3 session(s).',
    errors: ['recent_login_required'],
  })
  async logoutAll(@Req() request: AuthRequest): Promise<DetailResponse> {
    const { keep_current: keepCurrent = false } = await readBody(LogoutAllRequest, request);
    const principal = principalOf(request);
    this.auth.assertMayEndSessions(principal);
    const ended = await this.auth.logoutAll(principal, { keepCurrent }, clientOfLibraryRoute(request));
    return { detail: `Revoked ${ended} session(s).` };
  }
}
