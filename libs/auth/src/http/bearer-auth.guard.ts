import { Inject, Injectable, Optional, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ClientInfo } from '../domain/client';
import { AuthError } from '../domain/errors';
import { TokenSource } from '../domain/ports/token-source';
import { AuthService } from '../services/auth.service';
import type { AuthPrincipal } from '../services/authentication';
import { tokenInHeader } from './authorization-header';
import { checkedPrincipal, keepBearer } from './bearer';
import { isPublic, RECENT_LOGIN } from './decorators';
import { presentedToken } from './presented-token';
import { refusalOn } from './refusals';
import { clientOf, type AuthRequest } from './request';

/**
 * Lets a call pass that comes with a live access token of an active user: a request over HTTP, whose principal it puts on
 * `request.auth`, a resolver of GraphQL, a message to a gateway or a microservice. Nothing is cached: each is checked
 * against the database. Where no token is found, none was given. A handler marked `@Public()` passes unchecked.
 */
@Injectable()
export class BearerAuthGuard implements CanActivate {
  constructor(
    protected readonly auth: AuthService,
    protected readonly reflector: Reflector,
    /** The host's, of option `tokenSource`. */
    @Optional() @Inject(TokenSource) protected readonly tokens: TokenSource | null = null,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.isPublic(context)) return true;
    try {
      const { principal, isOfMessage } = await this.identify(context);
      const withinSeconds = this.recentLoginSeconds(context);
      if (withinSeconds !== undefined) this.auth.assertRecentLogin(principal, withinSeconds);
      const loadUser = (): Promise<unknown> =>
        this.auth.loadUser(principal).catch((error: unknown) => refuse(context, error));
      keepBearer(context, { principal, loadUser }, isOfMessage);
      return true;
    } catch (error) {
      return refuse(context, error);
    }
  }

  /** Whether the handler, or else its class, is marked `@Public()`. */
  protected isPublic(context: ExecutionContext): boolean {
    return isPublic(this.reflector, context);
  }

  /** What `@RequireRecentLogin()` asks of the handler, or else of its class. */
  protected recentLoginSeconds(context: ExecutionContext): number | undefined {
    return this.reflector.getAllAndOverride<number | undefined>(RECENT_LOGIN, [
      context.getHandler(),
      context.getClass(),
    ]);
  }

  /** The request behind a context. */
  protected getRequest(context: ExecutionContext): AuthRequest {
    return context.switchToHttp().getRequest<AuthRequest>();
  }

  /** The token of the request. @throws AuthError `credentials_missing`, `credentials_ambiguous` */
  protected getToken(request: AuthRequest): string {
    return tokenInHeader(request);
  }

  /** Whose token it is. @throws AuthError as `getToken`, and `access_token_invalid` */
  protected async principalFor(request: AuthRequest): Promise<AuthPrincipal> {
    return this.authenticate(this.getToken(request), clientOf(request));
  }

  /** Who calls, and whether the message itself said so. */
  private async identify(context: ExecutionContext): Promise<{ principal: AuthPrincipal; isOfMessage: boolean }> {
    if (context.getType() === 'http') {
      const request = this.getRequest(context);
      // The guard may stand before a route twice, globally and on its own.
      const principal = checkedPrincipal(request) ?? (await this.principalFor(request));
      return { principal, isOfMessage: false };
    }
    const found = (await this.tokens?.find(context)) ?? null;
    const { accessToken, client } = found ?? presentedToken(context);
    return { principal: await this.authenticate(accessToken, client), isOfMessage: found !== null };
  }

  private async authenticate(accessToken: string, client?: ClientInfo): Promise<AuthPrincipal> {
    const principal = await this.auth.authenticate(accessToken, client);
    if (!principal) throw new AuthError('access_token_invalid', 'Invalid or expired access token.');
    return principal;
  }
}

function refuse(context: ExecutionContext, error: unknown): never {
  throw error instanceof AuthError ? refusalOn(context, error) : error;
}
