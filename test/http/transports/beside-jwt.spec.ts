import { Controller, Get, Injectable, Req, UnauthorizedException, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { BearerAuthGuard, CurrentUser, isPublicRoute, type AuthRequest, type AuthUser } from 'nestjs-session-auth';
import { describeApplication, sendRaw } from '../../support/environment';
import type { TestApplication } from '../../support/test-application';

const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };
const SECRET = 'the secret with which the application signs its JWTs';

interface JwtRequest extends AuthRequest {
  user?: { readonly id: string };
}

/** The previous guard of the application. The subject of a signed JWT is the id of the user. */
@Injectable()
class JwtGuard implements CanActivate {
  constructor(private readonly jwt: JwtService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<JwtRequest>();
    const token = /^Bearer (\S+)$/.exec(String(request.headers['authorization']))?.[1] ?? '';
    try {
      const { sub } = await this.jwt.verifyAsync<{ sub: string }>(token, { algorithms: ['HS256'] });
      request.user = { id: sub };
      return true;
    } catch {
      throw new UnauthorizedException();
    }
  }
}

/** The guard during the migration. It passes JWTs to the previous guard and other tokens to the library. */
@Injectable()
class EitherGuard implements CanActivate {
  constructor(
    private readonly sessions: BearerAuthGuard,
    private readonly jwts: JwtGuard,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (isPublicRoute(context)) return true;
    const request = context.switchToHttp().getRequest<JwtRequest>();
    if (looksLikeJwt(request.headers['authorization'])) return this.jwts.canActivate(context);
    await this.sessions.canActivate(context);
    request.user = { id: String(request.auth!.userId) };
    return true;
  }
}

/** Returns whether the token consists of three parts with dots in between. Tokens of the library contain no dots. */
function looksLikeJwt(header: unknown): boolean {
  return typeof header === 'string' && /^bearer +[^ .]+\.[^ .]+\.[^ .]*$/i.test(header);
}

@Controller()
class OrdersController {
  @Get('orders')
  @UseGuards(EitherGuard)
  orders(@Req() { user }: JwtRequest): object {
    return { of: user!.id };
  }

  /** A route that accepts only tokens of the library. */
  @Get('profile')
  @UseGuards(BearerAuthGuard)
  profile(@CurrentUser() { username }: AuthUser): object {
    return { username };
  }
}

const options = {
  imports: [JwtModule.register({ secret: SECRET, signOptions: { expiresIn: '1h' } })],
  controllers: [OrdersController],
  providers: [EitherGuard, JwtGuard],
};

describeApplication('applications that move from JWTs to sessions', options, (env) => {
  let app: TestApplication;
  let alice: string;
  let jwt: string;

  beforeEach(async () => {
    ({ app } = env);
    [{ id: alice }] = await app.dataSource.query("SELECT id FROM auth_users WHERE username = 'alice'");
    jwt = await app.nest.get(JwtService).signAsync({ sub: alice });
  });

  it('routes with both guards accept both tokens, and routes with BearerAuthGuard accept only tokens of the library', async () => {
    const { access_token: token } = await app.login();
    await app.get('/orders', jwt).expect(200, { of: alice });
    await app.get('/orders', token).expect(200, { of: alice });
    await app.get('/profile', token).expect(200, { username: 'alice' });
    await app.get('/profile', jwt).expect(401, INVALID);
    await app.get('/auth/sessions', jwt).expect(401);
  });

  it('an invalid token is refused by the guard for its format', async () => {
    const jwts = app.nest.get(JwtService);
    const forged = [
      await jwts.signAsync({ sub: alice }, { secret: 'another secret' }),
      await jwts.signAsync({ sub: alice }, { expiresIn: -1 }),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(`{"sub":"${alice}"}`).toString('base64url')}.`,
      'a.b.c',
    ];
    const refusal = { message: 'Unauthorized', statusCode: 401 };
    for (const token of forged) await app.get('/orders', token).expect(401, refusal);
    await app.get('/orders', 'abc').expect(401, INVALID);
    expect((await app.http.get('/orders').expect(401)).body).toMatchObject({ code: 'credentials_missing' });
    const [oldOne, newOne] = [jwt, (await app.login()).access_token].map((token) => `Authorization: Bearer ${token}`);
    const both = await sendRaw(app, ['GET /orders HTTP/1.1', newOne!, oldOne!]);
    expect(both.status).toBe(400);
  });

  it('a session ends although the old JWT of its user stays valid until it expires', async () => {
    const { access_token: token } = await app.login();
    await app.post('/auth/logout/all', token).expect(200);
    await app.get('/orders', token).expect(401);
    await app.get('/orders', jwt).expect(200);
  });
});
