import { CanActivate, createParamDecorator, ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { GqlExecutionContext } from '@nestjs/graphql';
import { JwtService } from '@nestjs/jwt';
import { Request } from 'express';
import { UsersService } from '../../users.service';

type AuthenticatedRequest = Request & { user: { id: string } };

const requestOf = (context: ExecutionContext) =>
  GqlExecutionContext.create(context).getContext<{ req: AuthenticatedRequest }>().req;

export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).user);

@Injectable()
export class GqlAuthGuard implements CanActivate {
  constructor(
    private readonly jwts: JwtService,
    private readonly users: UsersService,
  ) {}

  async canActivate(context: ExecutionContext) {
    const request = requestOf(context);
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const claims = await this.jwts.verifyAsync<{ id: string; use: string }>(token).catch(() => null);
    const user = claims?.use === 'access' ? await this.users.findById(claims.id) : undefined;
    if (!user) throw new UnauthorizedException();
    request.user = user;
    return true;
  }
}
