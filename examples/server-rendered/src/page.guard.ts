import { Catch, HttpException, Injectable, type ArgumentsHost, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { AuthCookies, AuthError, BearerAuthGuard } from 'nestjs-session-auth';

/** Requires a session, and refreshes it if the access cookie has expired. */
@Injectable()
export class PageGuard {
  constructor(
    private readonly guard: BearerAuthGuard,
    private readonly cookies: AuthCookies,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await this.guard.canActivate(context);
    } catch (error) {
      const isExpired = error instanceof AuthError && error.getStatus() === 401;
      const request = context.switchToHttp().getRequest<Request>();
      if (!isExpired || !(await this.cookies.refresh(request, request.res!))) throw error;
      return this.guard.canActivate(context);
    }
  }
}

/** Redirects requests without a session to the login page, which redirects `GET` requests back after the login. */
@Catch(HttpException)
export class ToLogin {
  catch(error: HttpException, host: ArgumentsHost): void {
    const { method, originalUrl, res: response } = host.switchToHttp().getRequest<Request>();
    const to = method === 'GET' ? `?${new URLSearchParams({ to: originalUrl }).toString()}` : '';
    if (error.getStatus() === 401) response!.redirect(303, `/login${to}`);
    // The message is sent as text, because an exception of yours could quote a request in it.
    else response!.status(error.getStatus()).type('text').send(error.message);
  }
}
