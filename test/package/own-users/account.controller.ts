import { Body, Controller, Get, HttpCode, NotFoundException, Post, Req, UseGuards } from '@nestjs/common';
import {
  AuthService,
  BearerAuthGuard,
  clientInfoOf,
  CurrentSession,
  CurrentUser,
  Public,
  RequireRecentLogin,
  type AuthRequest,
  type SessionInfo,
} from 'nestjs-session-auth';
import { People } from './people.js';

/** What users do in the application. Responses contain reset tokens, which a real application would send by mail. */
@Controller()
export class AccountController {
  constructor(
    private readonly auth: AuthService,
    private readonly people: People,
  ) {}

  @Get('me')
  @UseGuards(BearerAuthGuard)
  me(@CurrentUser() user: { email: string }, @CurrentSession() session: SessionInfo): object {
    return { email: user.email, session_id: session.id };
  }

  @Post('payout')
  @HttpCode(200)
  @RequireRecentLogin({ withinSeconds: 300 })
  payOut(): object {
    return { paid: true };
  }

  @Public()
  @Post('signup')
  async signUp(@Body() { email, password }: { email: string; password: string }): Promise<object> {
    const { id, username } = await this.auth.createUser({ username: email, password });
    return { id, email: username };
  }

  @Public()
  @Post('reset/request')
  @HttpCode(200)
  async requestReset(@Body() { email }: { email: string }, @Req() request: AuthRequest): Promise<object> {
    const id = await this.people.idOf(email);
    if (id === null) throw new NotFoundException();
    return { token: (await this.auth.createPasswordResetToken(id, clientInfoOf(request))).token };
  }

  @Public()
  @Post('reset')
  @HttpCode(200)
  async reset(
    @Body() { token, password }: { token: string; password: string },
    @Req() request: AuthRequest,
  ): Promise<object> {
    await this.auth.redeemPasswordResetToken(token, password, clientInfoOf(request));
    return { reset: true };
  }
}
