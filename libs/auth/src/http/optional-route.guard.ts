import { Injectable, NotFoundException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AuthService } from '../services/auth.service';
import type { AuthRequest } from './request';

/** Answers for a route that is not there, as the platform does for any other. */
abstract class OptionalRouteGuard implements CanActivate {
  constructor(protected readonly auth: AuthService) {}

  protected abstract readonly isThere: boolean;

  canActivate(context: ExecutionContext): boolean {
    if (this.isThere) return true;
    throw new NotFoundException(`Cannot POST ${context.switchToHttp().getRequest<AuthRequest>().url}`);
  }
}

/** Where the user store cannot set passwords, the routes that do are not there. */
@Injectable()
export class PasswordsSettableGuard extends OptionalRouteGuard {
  constructor(auth: AuthService) {
    super(auth);
  }

  protected get isThere(): boolean {
    return this.auth.canSetPasswords;
  }
}

/** `reauthenticate/` is there where the options say so. */
@Injectable()
export class ReauthenticationGuard extends OptionalRouteGuard {
  constructor(auth: AuthService) {
    super(auth);
  }

  protected get isThere(): boolean {
    return this.auth.canReauthenticate;
  }
}
