import { Body, Controller, Delete, Get, Headers, HttpCode, Post, Req, UseFilters, UseGuards } from '@nestjs/common';
import { IsString } from 'class-validator';
import {
  AuthPrincipal,
  AuthRequest,
  AuthService,
  BearerAuthGuard,
  clientInfoOf,
  CurrentPrincipal,
  CurrentUser,
  ExternalPrincipal,
  TokenPair,
} from 'nestjs-session-auth';
import { User } from '../../user.entity';
import { UsersService } from '../../users.service';
import { OwnErrorsFilter } from './own-errors.filter';

class LoginForm {
  @IsString() email!: string;
  @IsString() password!: string;
}

@Controller({ path: 'auth', version: '1' })
@UseFilters(OwnErrorsFilter)
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly users: UsersService,
  ) {}

  @Post('email/login')
  @HttpCode(200)
  async login(@Body() { email, password }: LoginForm, @Req() request: AuthRequest) {
    const opened = await this.auth.login({ username: email, password }, clientInfoOf(request));
    return { ...tokensOf(opened), user: await this.users.findById(Number(opened.userId)) };
  }

  @Post('refresh')
  @HttpCode(200)
  async refresh(@Headers('authorization') header = '', @Req() request: AuthRequest) {
    return tokensOf(await this.auth.refresh(header.replace(/^Bearer /, ''), clientInfoOf(request)));
  }

  @Post('logout')
  @HttpCode(204)
  @UseGuards(BearerAuthGuard)
  async logout(@CurrentPrincipal() principal: AuthPrincipal | ExternalPrincipal, @Req() request: AuthRequest) {
    // A JWT has no session. As before, it stays valid until it expires.
    if ('sessionId' in principal) await this.auth.logout(principal, clientInfoOf(request));
  }

  @Get('me')
  @UseGuards(BearerAuthGuard)
  me(@CurrentUser() user: User) {
    return user;
  }

  @Delete('me')
  @HttpCode(204)
  @UseGuards(BearerAuthGuard)
  async remove(@CurrentUser() user: User) {
    await this.users.remove(user.id);
    await this.auth.forgetUser(user.id);
  }
}

function tokensOf({ accessToken, refreshToken, accessTokenExpiresAt }: TokenPair) {
  return { token: accessToken, refreshToken, tokenExpires: accessTokenExpiresAt.getTime() };
}
