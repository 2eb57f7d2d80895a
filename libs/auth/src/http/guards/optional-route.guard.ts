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

/** What the optional routes depend on. */
export type MountSettings = Pick<AuthService, 'canSetPasswords' | 'canReauthenticate'>;

export type MountCondition = (settings: MountSettings) => boolean;

/** Mounts a route only where the condition holds. Needs `OptionalRouteGuard`. */
export const MountedIf = (condition: MountCondition): CustomDecorator<string> => SetMetadata(MOUNTED_IF, condition);

/** A route that is off. The library's filter leaves it to the platform and the application. */
export class RouteOffException extends NotFoundException {}

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
    throw new RouteOffException(`Cannot POST ${context.switchToHttp().getRequest<AuthRequest>().url}`);
  }
}
