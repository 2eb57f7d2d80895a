import {
  Injectable,
  NotFoundException,
  SetMetadata,
  type CanActivate,
  type CustomDecorator,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthService } from '../../services/auth.service';
import type { AuthRequest } from '../platform/request';

/** The metadata key of `@MountedIf()`. */
export const MOUNTED_IF = 'nestjs-session-auth:mounted-if';

/** What an optional route depends on. */
export type MountCondition = (auth: Pick<AuthService, 'canSetPasswords' | 'canReauthenticate'>) => boolean;

/** Mounts a route only where the condition holds. Needs `OptionalRouteGuard`. */
export const MountedIf = (condition: MountCondition): CustomDecorator<string> => SetMetadata(MOUNTED_IF, condition);

/** Responds to a route whose `@MountedIf()` does not hold as the platform does to unknown ones. */
@Injectable()
export class OptionalRouteGuard implements CanActivate {
  constructor(
    private readonly auth: AuthService,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const condition = this.reflector.get<MountCondition | undefined>(MOUNTED_IF, context.getHandler());
    if (!condition || condition(this.auth)) return true;
    throw new NotFoundException(`Cannot POST ${context.switchToHttp().getRequest<AuthRequest>().url}`);
  }
}
