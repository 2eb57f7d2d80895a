import { Controller, Post, Req, Res, UseFilters, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { AuthService } from '../auth.service';
import { BearerAuthGuard } from './bearer-auth.guard';
import { type Delivered, TokenDelivery } from './cookies/cookie-mode';
import { LibraryRouteFilter } from './filters';
import { AuthEndpoint, MountedIf } from './openapi';
import { type AuthRequest, type AuthResponse, clientOfLibraryRoute, principalOf } from './request';
import { PasswordChangeRequest, readBody, ReauthenticateRequest } from './requests';
import { tokenPairResponse, TokenPairResponse } from './responses';

/** The endpoint for changing the password within a session. Mounted if the user store can set passwords. */
@Controller({ version: VERSION_NEUTRAL })
@UseFilters(LibraryRouteFilter)
@UseGuards(BearerAuthGuard)
@MountedIf((auth) => auth.canSetPasswords)
export class PasswordController {
  constructor(
    protected readonly auth: AuthService,
    protected readonly delivery: TokenDelivery,
  ) {}

  /** `POST password/change/` changes the password. */
  @Post('password/change')
  @AuthEndpoint({
    id: 'authChangePassword',
    summary: 'Changes the password and returns a new token pair for this session. By default, other sessions end',
    body: PasswordChangeRequest,
    returns: TokenPairResponse,
    errors: ['too_many_attempts'],
  })
  async change(
    @Req() request: AuthRequest,
    @Res({ passthrough: true }) response: AuthResponse,
  ): Promise<TokenPairResponse | Delivered> {
    this.delivery.assertAllowed(request);
    const body = await readBody(PasswordChangeRequest, request);
    const change = { currentPassword: body.current_password, newPassword: body.new_password };
    const pair = await this.auth.changePassword(principalOf(request), change, clientOfLibraryRoute(request));
    return this.delivery.deliver(request, response, pair, tokenPairResponse(pair));
  }
}

/** The endpoint for confirming the password within a session. Mounted if `recentLogin.endpoint` is true. */
@Controller({ version: VERSION_NEUTRAL })
@UseFilters(LibraryRouteFilter)
@UseGuards(BearerAuthGuard)
@MountedIf((auth) => auth.canReauthenticate)
export class ReauthenticationController {
  constructor(
    protected readonly auth: AuthService,
    protected readonly delivery: TokenDelivery,
  ) {}

  /** `POST reauthenticate/` confirms the password. */
  @Post('reauthenticate')
  @AuthEndpoint({
    id: 'authReauthenticate',
    summary: 'Confirms the password within the session and returns a new token pair',
    body: ReauthenticateRequest,
    returns: TokenPairResponse,
    errors: ['too_many_attempts'],
  })
  async reauthenticate(
    @Req() request: AuthRequest,
    @Res({ passthrough: true }) response: AuthResponse,
  ): Promise<TokenPairResponse | Delivered> {
    this.delivery.assertAllowed(request);
    const { password } = await readBody(ReauthenticateRequest, request);
    const pair = await this.auth.reauthenticate(principalOf(request), password, clientOfLibraryRoute(request));
    return this.delivery.deliver(request, response, pair, tokenPairResponse(pair));
  }
}
