import {
  CanActivate,
  createParamDecorator,
  ExecutionContext,
  Injectable,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Request } from 'express';
import { User } from '../../user.entity';
import { UsersService } from '../../users.service';

type AuthenticatedRequest = Request & { user: User | null };

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>();

export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).user);

@Injectable()
class OptionalTokenGuard implements CanActivate {
  constructor(
    private readonly jwts: JwtService,
    private readonly users: UsersService,
  ) {}

  async canActivate(context: ExecutionContext) {
    const request = requestOf(context);
    const [scheme, token] = request.headers.authorization?.split(' ') ?? [];
    request.user = scheme === 'Token' && token ? await this.userOf(token) : null;
    return true;
  }

  private async userOf(token: string) {
    const claims = await this.jwts.verifyAsync<{ id: number }>(token).catch(() => null);
    const user = claims && (await this.users.findById(claims.id));
    if (!user) throw new UnauthorizedException();
    return user;
  }
}

@Injectable()
class TokenGuard extends OptionalTokenGuard {
  override async canActivate(context: ExecutionContext) {
    await super.canActivate(context);
    if (!requestOf(context).user) throw new UnauthorizedException();
    return true;
  }
}

export const LoginOptional = () => UseGuards(OptionalTokenGuard);
export const LoginRequired = () => UseGuards(TokenGuard);
