import { Controller, HttpCode, Post, Req, UseFilters, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { AuthService } from '../services/auth.service';
import { AuthErrorFilter } from './auth-error.filter';
import { BearerAuthGuard } from './bearer-auth.guard';
import { PasswordChangeRequest, ReauthenticateRequest } from './dto/requests';
import { tokenPairResponse, type DetailResponse, type TokenPairResponse } from './dto/responses';
import { NoStore } from './no-store.decorator';
import { PasswordsSettableGuard, ReauthenticationGuard } from './optional-route.guard';
import { readBody } from './read-body';
import { clientOf, principalOf, type AuthRequest } from './request';

/** What a user does with the password within a session. */
@Controller({ version: VERSION_NEUTRAL })
@UseFilters(AuthErrorFilter)
@NoStore()
export class PasswordController {
  constructor(protected readonly auth: AuthService) {}

  /** `POST password/change/`, where the user store can set passwords. */
  @Post('password/change')
  @UseGuards(PasswordsSettableGuard, BearerAuthGuard)
  @HttpCode(200)
  async change(@Req() request: AuthRequest): Promise<TokenPairResponse> {
    const body = await readBody(PasswordChangeRequest, request, ['current_password', 'new_password']);
    const change = { currentPassword: body.current_password, newPassword: body.new_password };
    return tokenPairResponse(await this.auth.changePassword(principalOf(request), change, clientOf(request)));
  }

  /** `POST reauthenticate/`, where the options say so. */
  @Post('reauthenticate')
  @UseGuards(ReauthenticationGuard, BearerAuthGuard)
  @HttpCode(200)
  async reauthenticate(@Req() request: AuthRequest): Promise<DetailResponse> {
    const { password } = await readBody(ReauthenticateRequest, request, ['password']);
    await this.auth.reauthenticate(principalOf(request), password, clientOf(request));
    return { detail: 'Reauthenticated.' };
  }
}
