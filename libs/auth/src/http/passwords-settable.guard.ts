import { Injectable, NotFoundException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AuthService } from '../services/auth.service';
import type { AuthRequest } from './request';

/** Where the user store cannot set passwords, the routes that do are not there. */
@Injectable()
export class PasswordsSettableGuard implements CanActivate {
  constructor(private readonly auth: AuthService) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.auth.canSetPasswords) return true;
    throw new NotFoundException(`Cannot POST ${context.switchToHttp().getRequest<AuthRequest>().url}`);
  }
}
