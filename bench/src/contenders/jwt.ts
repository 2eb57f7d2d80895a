import { UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { Request } from 'express';
import { timesAsync, type MakeContender } from './contender';
import { loadPeer } from './peer';
import { tokenOf } from './plain-tables';
import { routeBehind } from './route';

interface JwtService {
  signAsync(payload: object): Promise<string>;
  verifyAsync(token: string): Promise<object>;
}
interface JwtPackage {
  readonly JwtService: new (options: object) => JwtService;
}

/** The guard of Nest's documentation. It verifies the signature, without a database and without revocation. */
class JwtGuard implements CanActivate {
  constructor(private readonly jwt: JwtService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request & { user?: object }>();
    try {
      request.user = await this.jwt.verifyAsync(tokenOf(request.headers.authorization));
    } catch {
      throw new UnauthorizedException();
    }
    return true;
  }
}

export const make: MakeContender = (setup) => {
  const { JwtService } = loadPeer<JwtPackage>('@nestjs/jwt');
  const secret = randomBytes(32).toString('base64url');
  const jwt = new JwtService({ secret, signOptions: { algorithm: 'HS256', expiresIn: '1d' } });
  return Promise.resolve({
    module: { controllers: [routeBehind(new JwtGuard(jwt))] },
    credentials: () =>
      timesAsync(setup.sessions, async (index) => ({
        authorization: `Bearer ${await jwt.signAsync({ sub: `u${index}`, username: `user ${index}` })}`,
      })),
  });
};
