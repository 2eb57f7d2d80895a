import { Controller, Post, Req, Res, UseFilters, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { AuthService } from '../../services/auth.service';
import { TokenDelivery, type Delivered } from '../cookies/token-delivery';
import { BearerAuthGuard } from '../guards/bearer-auth.guard';
import { clientOfLibraryRoute, principalOf, type AuthRequest, type AuthResponse } from '../platform/request';
import { AuthEndpoint } from './auth-endpoint.decorator';
import { PasswordChangeRequest } from './dto/requests';
import { tokenPairResponse, TokenPairResponse } from './dto/responses';
import { LibraryRouteFilter } from './library-route.filter';
import { MountedIf } from './mounted-if.decorator';
import { readBody } from './read-body';

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
