import { applyDecorators, Controller, Header, HttpCode, Inject, Post, Req, UseGuards } from '@nestjs/common';
import { UnprocessableEntityException } from '@nestjs/common';
import type { Request } from 'express';
import { AuthService, BearerAuthGuard, clientInfoOf, Public, RequireRecentLogin } from 'nestjs-session-auth';
import type { AuthPrincipal, UserId } from 'nestjs-session-auth';
import { toDataURL } from 'qrcode';
import { SecondFactors, TRUST_COOKIE, type LoginClient } from './second-factors.service.js';

type SessionRequest = Request & { readonly auth: AuthPrincipal; readonly user: { id: UserId; username: string } };
type Target = { readonly ticket: string } | { readonly principal: AuthPrincipal };
/** A POST route that returns secrets, which caches must not store. `RequireRecentLogin` includes `BearerAuthGuard`. */
const PostSecret = (path: string, access: MethodDecorator) =>
  applyDecorators(Post(path), HttpCode(200), Header('Cache-Control', 'no-store'), access);

@Controller()
export class SecondFactorController {
  @Inject() private readonly auth!: AuthService;
  @Inject() private readonly factors!: SecondFactors;

  @PostSecret('login', Public())
  login(@Req() request: Request): Promise<object> {
    const [, deviceToken = ''] = /(?:^|; )__Host-device=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
    return this.auth.login(request.body ?? {}, { ...clientInfoOf(request), deviceToken } as LoginClient);
  }

  @PostSecret('login/code', Public())
  async loginWithCode(@Req() request: Request): Promise<object> {
    const { ticket = '', trust } = request.body ?? {};
    const userId = await this.check(request, { ticket });
    const [token] = trust === true ? await this.factors.createTokens(userId, 'device', 1) : [];
    const session = await this.auth.openSession({ ticket }, clientInfoOf(request));
    if (token) request.res!.cookie('__Host-device', token, TRUST_COOKIE);
    return session;
  }

  @PostSecret('second-factor/enroll', RequireRecentLogin({ withinSeconds: 300 }))
  async enroll(@Req() { user }: SessionRequest): Promise<object> {
    const uri = await this.factors.enroll(String(user.id), user.username);
    return { uri, qrCode: await toDataURL(uri) };
  }

  /** Enables the second factor. Ends the other sessions, and revokes the earlier tokens of this session. */
  @PostSecret('second-factor/confirm', RequireRecentLogin({ withinSeconds: 300 }))
  async confirm(@Req() request: SessionRequest): Promise<object> {
    const userId = await this.check(request, { principal: request.auth }, { isConfirmed: false });
    // Also ends the trust in devices: a login that ran while the factor was disabled can have stored a token.
    await this.auth.logoutAll(request.auth, { keepCurrent: true }, clientInfoOf(request));
    const pair = await this.auth.confirmIdentity(request.auth, { methods: ['otp'] }, clientInfoOf(request));
    return { ...pair, recoveryCodes: await this.factors.createTokens(userId, 'recovery', 10) };
  }

  @PostSecret('second-factor/verify', UseGuards(BearerAuthGuard))
  async verify(@Req() request: SessionRequest): Promise<object> {
    await this.check(request, { principal: request.auth }, { onlyOtp: true });
    return this.auth.confirmIdentity(request.auth, { methods: ['otp'] }, clientInfoOf(request));
  }

  @PostSecret('second-factor/recovery-codes', RequireRecentLogin({ withinSeconds: 300, methods: ['otp'] }))
  async renewRecoveryCodes(@Req() request: SessionRequest): Promise<object> {
    const userId = await this.check(request, { principal: request.auth }, { onlyOtp: true });
    return { recoveryCodes: await this.factors.createTokens(userId, 'recovery', 10) };
  }

  @PostSecret('second-factor/disable', RequireRecentLogin({ withinSeconds: 300 }))
  async disable(@Req() request: SessionRequest): Promise<void> {
    await this.factors.disable(await this.check(request, { principal: request.auth }));
  }

  /** Checks the code of a request. Failed attempts are throttled. @returns the id of the user */
  private async check(request: Request, target: Target, { isConfirmed = true, onlyOtp = false } = {}): Promise<string> {
    const code = typeof request.body?.code === 'string' ? request.body.code.trim().toLowerCase() : '';
    const method = !onlyOtp && /^[0-9a-f]{32}$/.test(code) ? 'recovery' : 'otp';
    let userId = '';
    const isRight = await this.auth.attempt({ ...target, method }, clientInfoOf(request), ({ id }) =>
      this.factors.accept(method, (userId = String(id)), code, isConfirmed),
    );
    if (!isRight) throw new UnprocessableEntityException('Wrong code.');
    return userId;
  }
}
