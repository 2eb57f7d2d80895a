import { Controller, Post, Req, Res, UseGuards } from '@nestjs/common';
import { generateAuthenticationOptions } from '@simplewebauthn/server';
import { AuthCookies, AuthService, AuthUser, BearerAuthGuard, clientInfoOf } from 'nestjs-session-auth';
import { CurrentUser, RequireRecentLogin, type AuthRequest, type AuthResponse } from 'nestjs-session-auth';
import { Passkeys, refuse, rpID } from './passkeys.service.js';

@Controller('passkeys')
export class PasskeysController {
  constructor(
    private readonly auth: AuthService,
    private readonly cookies: AuthCookies,
    private readonly passkeys: Passkeys,
  ) {}

  @Post('options')
  async options(@Req() request: AuthRequest, @Res({ passthrough: true }) reply: AuthResponse): Promise<object> {
    // Another site must not replace the cookie of a challenge that the visitor is about to answer.
    this.cookies.assertSameSite(request);
    const challenge = await this.passkeys.issueChallenge(reply);
    return generateAuthenticationOptions({ rpID, challenge, userVerification: 'required' });
  }

  @Post('login')
  async login(@Req() request: AuthRequest, @Res({ passthrough: true }) reply: AuthResponse): Promise<void> {
    this.cookies.assertSameSite(request); // another host of the site must not consume the visitor's challenge
    const { userId, methods } = await this.passkeys.verify(request);
    this.cookies.set(request, reply, await this.auth.openSession(userId, clientInfoOf(request), { methods }));
  }

  @Post('second-factor')
  async secondFactor(@Req() request: AuthRequest, @Res({ passthrough: true }) reply: AuthResponse): Promise<void> {
    this.cookies.assertSameSite(request);
    const { userId, methods } = await this.passkeys.verify(request);
    const { ticket } = request.body as { readonly ticket: string };
    const client = clientInfoOf(request);
    // The passkey must belong to the user who entered the correct password.
    for (const method of methods) {
      if (!(await this.auth.attempt({ ticket, method }, client, ({ id }) => id === userId))) refuse();
    }
    this.cookies.set(request, reply, await this.auth.openSession({ ticket }, client));
  }

  @Post('confirmation')
  @UseGuards(BearerAuthGuard)
  async confirm(@Req() request: AuthRequest, @Res({ passthrough: true }) reply: AuthResponse): Promise<void> {
    const { userId, methods } = await this.passkeys.verify(request);
    if (userId !== request.auth!.userId) refuse();
    const pair = await this.auth.confirmIdentity(request.auth!, { methods }, clientInfoOf(request));
    this.cookies.set(request, reply, pair);
  }

  @Post('registration/options')
  @RequireRecentLogin({ withinSeconds: 300 })
  registrationOptions(@CurrentUser() user: AuthUser, @Res({ passthrough: true }) reply: AuthResponse): Promise<object> {
    return this.passkeys.registrationOptions(user, reply);
  }

  @Post('registration')
  @RequireRecentLogin({ withinSeconds: 300 })
  async register(@CurrentUser() user: AuthUser, @Req() request: AuthRequest): Promise<void> {
    const isFirst = !(await this.passkeys.isRequired(user));
    if (!isFirst) this.auth.assertRecentLogin(request.auth!, 300, ['user']);
    await this.passkeys.register(user, request, isFirst);
    // This is the last step, because the password alone could open sessions until the passkey was stored.
    await this.auth.logoutAll(request.auth!, { keepCurrent: true }, clientInfoOf(request));
  }

  @Post('payout')
  @RequireRecentLogin({ withinSeconds: 300, methods: ['hwk'] })
  payOut(): object {
    return { paid: true };
  }
}
