import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthError } from '../domain/errors';
import { AuthService } from '../services/auth.service';
import type { AuthPrincipal } from '../services/authentication';
import { prepareRefusal, type HeaderSink } from './auth-http-exception';
import { bearerToken } from './authorization-header';
import { IS_PUBLIC, RECENT_LOGIN } from './decorators';
import { clientOf, headerLines, type AuthRequest } from './request';

/**
 * Lets a request pass that has a live access token of an active user, and puts its principal on `request.auth`.
 * Nothing is cached: each request is checked against the database. A handler marked `@Public()` passes unchecked.
 */
@Injectable()
export class BearerAuthGuard implements CanActivate {
  constructor(
    protected readonly auth: AuthService,
    protected readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.isPublic(context)) return true;
    // No token can be found on another transport yet, and none found means none given.
    if (context.getType() !== 'http') return false;
    const request = this.getRequest(context);
    try {
      // The guard may stand before a route twice, globally and on its own.
      const principal = (request.auth ??= await this.principalFor(request));
      const withinSeconds = this.recentLoginSeconds(context);
      if (withinSeconds !== undefined) this.auth.assertRecentLogin(principal, withinSeconds);
      request.loadUser ??= () => this.auth.loadUser(principal).catch((error: unknown) => refuse(context, error));
      return true;
    } catch (error) {
      return refuse(context, error);
    }
  }

  /** Whether the handler, or else its class, is marked `@Public()`. */
  protected isPublic(context: ExecutionContext): boolean {
    return this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]) === true;
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
    if (headerLines(request, 'authorization') > 1) {
      throw new AuthError('credentials_ambiguous', 'More than one Authorization header was sent.');
    }
    const header = request.headers['authorization'];
    return bearerToken(typeof header === 'string' ? header : undefined);
  }

  /** Whose token it is. @throws AuthError as `getToken`, and `access_token_invalid` */
  protected async principalFor(request: AuthRequest): Promise<AuthPrincipal> {
    const principal = await this.auth.authenticate(this.getToken(request), clientOf(request));
    if (!principal) throw new AuthError('access_token_invalid', 'Invalid or expired access token.');
    return principal;
  }
}

function refuse(context: ExecutionContext, error: unknown): never {
  throw error instanceof AuthError ? prepareRefusal(context.switchToHttp().getResponse<HeaderSink>(), error) : error;
}
