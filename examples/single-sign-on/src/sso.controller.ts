import { BadRequestException, Body, ConflictException, Controller, ForbiddenException } from '@nestjs/common';
import { HttpCode, Inject, Post, Req, UseGuards } from '@nestjs/common';
import type { Request as HttpRequest } from 'express';
import { AuthCookies, AuthError, AuthService, AuthSession, BearerAuthGuard, clientInfoOf } from 'nestjs-session-auth';
import { OptionalAuth, RequireRecentLogin, type AuthRequest, type SessionData } from 'nestjs-session-auth';
import type { IDToken } from 'openid-client';
import { EntityManager, LessThan } from 'typeorm';
import { Account, LogoutToken } from './entities.js';
import { begin, finish, logoutUrl, verifyLogoutToken } from './provider.js';

type Request = HttpRequest & AuthRequest;
const FACTORS = [['pwd'], ['otp', 'hwk']]; // `otp` and `hwk` both prove possession, so they are one factor
const refuse = (cause: unknown): never => {
  throw new BadRequestException('The request could not be verified. Try again.', { cause });
};

@Controller('sso')
export class SsoController {
  @Inject() private readonly auth!: AuthService;
  @Inject() private readonly cookies!: AuthCookies;
  @Inject() private readonly database!: EntityManager;

  @Post('login')
  login(@Req() request: Request): Promise<{ url: string }> {
    this.cookies.assertSameSite(request); // another site must not replace the cookie of a flow
    return begin(request.res!);
  }

  /** Requires the method `pwd`, because a provider can log a user in without asking for credentials. */
  @Post('link')
  @RequireRecentLogin({ withinSeconds: 300, methods: ['pwd'] })
  link(@Req() request: Request): Promise<{ url: string }> {
    return begin(request.res!, request.auth!.sessionId);
  }

  /** The provider redirects to the page with the same path. The page sends this request from its own origin. */
  @Post('callback')
  @HttpCode(204)
  @OptionalAuth()
  async callback(@Req() request: Request): Promise<void> {
    this.cookies.assertSameSite(request);
    const { session, claims } = await finish(request).catch(refuse);
    if (session === '') return this.openSession(request, claims);
    // A client can change its cookie, so the requirements of `link` are checked again.
    if (request.auth?.sessionId !== session) throw new ForbiddenException('Another session began this flow.');
    this.auth.assertRecentLogin(request.auth, 300, ['pwd']);
    const account = { iss: claims.iss, sub: claims.sub, userId: String(request.auth.userId) };
    // If several users link one account at the same time, the primary key accepts one of them.
    await this.database.createQueryBuilder().insert().into(Account).values(account).orIgnore().execute();
    if (!(await this.database.existsBy(Account, account))) throw new ConflictException('Linked to another user.');
  }

  @Post('logout')
  @UseGuards(BearerAuthGuard)
  async logout(@Req() request: Request): Promise<{ url: string }> {
    await this.auth.logout(request.auth!, clientInfoOf(request));
    this.cookies.clear(request.res!);
    return { url: request.auth!.data.sso ? logoutUrl : '/' };
  }

  /** Ends the sessions that the provider's session `sid` opened. Without `sid`, ends all sessions of the subject. */
  @Post('backchannel-logout')
  @HttpCode(200)
  async backchannelLogout(@Body('logout_token') token: string): Promise<void> {
    const { iss, sub, sid, jti, iat, exp } = await verifyLogoutToken(token).catch(refuse);
    await this.database.transaction(async (manager) => {
      await manager.insert(LogoutToken, { jti, exp }).catch(refuse); // the token was used before
      await manager.delete(LogoutToken, { exp: LessThan(iat - 60) });
      const account = await manager.findOneBy(Account, { iss, sub });
      const sessions = account ? await manager.findBy(AuthSession, { userId: account.userId, state: 'active' }) : [];
      for (const { id, userId, data } of sessions) {
        const { sso } = JSON.parse(data ?? '{}') as Partial<SessionData>;
        const isMatch = sso?.iss === iss && sso.sub === sub && (sid === undefined || sso.sid === sid);
        const actor = { by: 'admin', actor: 'single sign-on' } as const;
        if (isMatch) await this.auth.inTransaction(manager).revokeSession(userId, id, {}, actor).catch(ignoreEnded);
      }
    });
  }

  private async openSession(request: Request, { iss, sub, sid, iat, auth_time = 0, amr }: IDToken): Promise<void> {
    // No user is looked up by email address, because the address proves nothing.
    const find = (): Promise<Account | null> => this.database.findOneBy(Account, { iss, sub });
    const create = (): Promise<Account> =>
      this.database.transaction(async (manager) => {
        const user = { username: `sso-${crypto.randomUUID()}`, password: null };
        const { id } = await this.auth.inTransaction(manager).createUser(user);
        const account = { iss, sub, userId: String(id) };
        await manager.insert(Account, account);
        return account;
      });
    // If several first logins run at the same time, the primary key accepts one, and the others use its user.
    const retry = async (error: unknown): Promise<Account> => (await find()) ?? Promise.reject(error as Error);
    const { userId } = (await find()) ?? (await create().catch(retry));
    // Ignores the methods of an old login, which providers report again when they do not ask for credentials.
    const named = iat - auth_time <= 60 ? [amr].flat() : [];
    const methods = FACTORS.flatMap((factor) => factor.find((name) => named.includes(name)) ?? []);
    const proofs = { methods: methods.length > 0 ? methods : ['sso'], data: { sso: { iss, sub, sid } } };
    const client = clientInfoOf(request);
    const ticket = await this.auth.createLoginTicket(userId, proofs, client);
    const session = await this.auth.openSession({ ticket }, client).catch((error: AuthError) => {
      if (error.code !== 'second_factor_required') throw error;
      throw new ForbiddenException({ detail: error.message, code: error.code, login_ticket: ticket });
    });
    this.cookies.set(request, request.res!, session);
  }
}

function ignoreEnded(error: AuthError): void {
  if (error.code !== 'session_not_found') throw error;
}
