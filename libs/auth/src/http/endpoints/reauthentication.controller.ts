import { Controller, Post, Req, Res, UseFilters, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { AuthService } from '../../services/auth.service';
import { TokenDelivery, type Delivered } from '../cookies/token-delivery';
import { BearerAuthGuard } from '../guards/bearer-auth.guard';
import { clientOfLibraryRoute, principalOf, type AuthRequest, type AuthResponse } from '../platform/request';
import { AuthEndpoint } from './auth-endpoint.decorator';
import { ReauthenticateRequest } from './dto/requests';
import { tokenPairResponse, TokenPairResponse } from './dto/responses';
import { LibraryRouteFilter } from './library-route.filter';
import { MountedIf } from './mounted-if.decorator';
import { readBody } from './read-body';

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
