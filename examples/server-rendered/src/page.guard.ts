import { Catch, HttpException, Inject, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuthCookies, AuthError, BearerAuthGuard, type AuthPrincipal } from 'nestjs-session-auth';

/** Requires a session, and refreshes it if the access cookie has expired. */
@Injectable()
export class PageGuard extends BearerAuthGuard {
  @Inject(AuthCookies)
  private readonly cookies!: AuthCookies;

  protected override async principalFor(request: Request): Promise<AuthPrincipal> {
    try {
      return await super.principalFor(request);
    } catch (error) {
      const isExpired =
        error instanceof AuthError && ['credentials_missing', 'access_token_invalid'].includes(error.code);
      const principal = isExpired ? await this.cookies.refresh(request, request.res!) : null;
      if (principal) return principal;
      throw error;
    }
  }
}

/** Redirects requests without a session to the login page, which redirects `GET` requests back after the login. */
@Catch(HttpException)
export class ToLogin implements ExceptionFilter<HttpException> {
  catch(error: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const { method, originalUrl } = host.switchToHttp().getRequest<Request>();
    const to = method === 'GET' ? `?${new URLSearchParams({ to: originalUrl }).toString()}` : '';
    if (error.getStatus() === 401) response.redirect(303, `/login${to}`);
    else response.status(error.getStatus()).send(error.message);
  }
}
