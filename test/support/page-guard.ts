import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthCookies, type AuthRequest, type AuthResponse, BearerAuthGuard } from 'nestjs-session-auth';

/** Guards a page that refreshes its cookies, as in docs/server-rendered-pages.md. */
@Injectable()
export class PageGuard implements CanActivate {
  constructor(
    private readonly guard: BearerAuthGuard,
    private readonly cookies: AuthCookies,
  ) {}

  canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[AuthRequest, AuthResponse]>();
    return this.guard.canActivate(context).catch(async () => (await this.cookies.refresh(request, response)) !== null);
  }
}
