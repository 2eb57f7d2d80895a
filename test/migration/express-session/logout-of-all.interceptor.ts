import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { AuthController, type AuthRequest } from 'nestjs-session-auth';
import type { Observable } from 'rxjs';
import { FormerSessions } from './former-sessions.js';

/** Ends the former sessions on a logout from all devices. The library does not know the former sessions. */
@Injectable()
export class LogoutOfAllInterceptor implements NestInterceptor {
  constructor(private readonly former: FormerSessions) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getHandler() === AuthController.prototype.logoutAll) {
      const { auth } = context.switchToHttp().getRequest<AuthRequest>();
      if (auth) await this.former.endAllOf(auth.userId);
    }
    return next.handle();
  }
}
