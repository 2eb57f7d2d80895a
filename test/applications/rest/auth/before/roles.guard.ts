import { CanActivate, ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RoleId, User } from '../../user.entity';

export const Roles = (...roles: RoleId[]) => SetMetadata('roles', roles);

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext) {
    const roles = this.reflector.get<RoleId[]>('roles', context.getHandler());
    const { user } = context.switchToHttp().getRequest<{ user: User }>();
    return roles.includes(user.role.id);
  }
}
