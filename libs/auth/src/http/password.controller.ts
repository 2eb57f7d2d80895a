import { Controller, HttpCode, Post, Req, UseFilters, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import { AuthService } from '../services/auth.service';
import { AuthErrorFilter } from './auth-error.filter';
import { BearerAuthGuard } from './bearer-auth.guard';
import { PasswordChangeRequest } from './dto/requests';
import { tokenPairResponse, type TokenPairResponse } from './dto/responses';
import { NoStore } from './no-store.decorator';
import { PasswordsSettableGuard } from './passwords-settable.guard';
import { readBody } from './read-body';
import { clientOf, principalOf, type AuthRequest } from './request';

/** Change of the user's own password. */
@Controller({ version: VERSION_NEUTRAL })
@UseFilters(AuthErrorFilter)
@UseGuards(PasswordsSettableGuard, BearerAuthGuard)
@NoStore()
export class PasswordController {
  constructor(protected readonly auth: AuthService) {}

  @Post('password/change')
  @HttpCode(200)
  async change(@Req() request: AuthRequest): Promise<TokenPairResponse> {
    const body = await readBody(PasswordChangeRequest, request, ['current_password', 'new_password']);
    const change = { currentPassword: body.current_password, newPassword: body.new_password };
    return tokenPairResponse(await this.auth.changePassword(principalOf(request), change, clientOf(request)));
  }
}
