import { Controller, HttpCode, Post, Req, UseFilters, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { AuthService } from '../services/auth.service';
import { AuthErrorFilter } from './auth-error.filter';
import { BearerAuthGuard } from './bearer-auth.guard';
import { Public } from './decorators';
import { LoginRequest, LogoutAllRequest, RefreshRequest } from './dto/requests';
import { tokenPairResponse, type DetailResponse, type LoginResponse, type TokenPairResponse } from './dto/responses';
import { NoStore } from './no-store.decorator';
import { readBody } from './read-body';
import { clientOf, principalOf, type AuthRequest } from './request';

/** Login, refresh and logout. Takes the request itself, so that the host's pipes make no difference. */
@Controller({ version: VERSION_NEUTRAL })
@UseFilters(AuthErrorFilter)
@UseGuards(BearerAuthGuard)
@NoStore()
export class AuthController {
  constructor(protected readonly auth: AuthService) {}

  /** `POST login/`: opens a session. */
  @Public()
  @Post('login')
  @HttpCode(200)
  async login(@Req() request: AuthRequest): Promise<LoginResponse> {
    const credentials = await readBody(LoginRequest, request, ['username', 'password']);
    const opened = await this.auth.login(credentials, clientOf(request));
    const { access_token, refresh_token, token_type } = tokenPairResponse(opened);
    return { access_token, refresh_token, session_id: opened.sessionId, token_type };
  }

  /** `POST token/refresh/`: exchanges a refresh token. */
  @Public()
  @Post('token/refresh')
  @HttpCode(200)
  async refresh(@Req() request: AuthRequest): Promise<TokenPairResponse> {
    const { refresh_token } = await readBody(RefreshRequest, request, ['refresh_token']);
    return tokenPairResponse(await this.auth.refresh(refresh_token, clientOf(request)));
  }

  /** `POST logout/`: ends this session. */
  @Post('logout')
  @HttpCode(200)
  async logout(@Req() request: AuthRequest): Promise<DetailResponse> {
    await this.auth.logout(principalOf(request), clientOf(request));
    return { detail: 'Logged out successfully.' };
  }

  /** `POST logout/all/`: ends all sessions of the user, or all but this one. */
  @Post('logout/all')
  @HttpCode(200)
  async logoutAll(@Req() request: AuthRequest): Promise<DetailResponse> {
    const { keep_current: keepCurrent = false } = await readBody(LogoutAllRequest, request, ['keep_current']);
    const principal = principalOf(request);
    this.auth.assertMayEndSessions(principal);
    const ended = await this.auth.logoutAll(principal, { keepCurrent }, clientOf(request));
    return { detail: `Revoked ${ended} session(s).` };
  }
}
