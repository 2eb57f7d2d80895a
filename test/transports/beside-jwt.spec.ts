import { Body, Controller, Get, Injectable, Post, Req, UnauthorizedException, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { JwtModule, JwtService } from '@nestjs/jwt';
import {
  AuthService,
  BearerAuthGuard,
  clientInfoOf,
  CurrentUser,
  isPublicRoute,
  type AuthRequest,
  type AuthUser,
} from 'nestjs-session-auth';
import { createDatabase, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';
import { sendRaw } from '../e2e/stories';

const SECRET = 'a secret of the old days, known to the server alone';

interface JwtRequest extends AuthRequest {
  user?: { readonly id: string };
}

/** The old guard, as hosts wrote it: the subject of a signed token is the user. */
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

/** The guard of the time between: what looks like a JWT is the old guard's, all else is the library's. */
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

/** Three parts between dots; the library's tokens have none. */
function looksLikeJwt(header: unknown): boolean {
  return typeof header === 'string' && /^bearer +[^ .]+\.[^ .]+\.[^ .]*$/i.test(header);
}

/** The table of the old refresh tokens: one DELETE, whose count says who was the first. */
@Injectable()
class OldRefreshTokens {
  readonly users = new Map<string, string>();

  take(token: string): string | undefined {
    const userId = this.users.get(token);
    return this.users.delete(token) ? userId : undefined;
  }
}

@Controller()
class OrdersController {
  constructor(
    private readonly auth: AuthService,
    private readonly old: OldRefreshTokens,
  ) {}

  @Get('orders')
  @UseGuards(EitherGuard)
  orders(@Req() { user }: JwtRequest): object {
    return { of: user!.id };
  }

  /** Where only the new tokens will do. */
  @Get('profile')
  @UseGuards(BearerAuthGuard)
  profile(@CurrentUser() { username }: AuthUser): object {
    return { username };
  }

  /** A session for a refresh token of the old days, which is gone with that: it gives what it gave before, once. */
  @Post('session')
  async session(@Body() { refresh }: { refresh: string }, @Req() request: AuthRequest): Promise<object> {
    const userId = this.old.take(refresh);
    if (userId === undefined) throw new UnauthorizedException();
    const { accessToken, refreshToken } = await this.auth.openSession({ id: userId }, clientInfoOf(request));
    return { access_token: accessToken, refresh_token: refreshToken };
  }
}

describe('while a host moves over from JWTs', () => {
  let database: TestDatabase;
  let host: Host;
  let alice: string;
  let jwt: string;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    host = await Host.start({
      database,
      imports: [JwtModule.register({ secret: SECRET, signOptions: { expiresIn: '1h' } })],
      controllers: [OrdersController],
      providers: [EitherGuard, JwtGuard, OldRefreshTokens],
    });
    [{ id: alice }] = await host.dataSource.query("SELECT id FROM auth_users WHERE username = 'alice'");
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(async () => {
    await host.reset();
    jwt = await host.app.get(JwtService).signAsync({ sub: alice });
  });

  it('both tokens are accepted where both guards stand, and each alone elsewhere', async () => {
    const { access_token: token } = await host.login();
    await host.get('/orders', jwt).expect(200, { of: alice });
    await host.get('/orders', token).expect(200, { of: alice });
    await host.get('/profile', token).expect(200, { username: 'alice' });
    await host
      .get('/profile', jwt)
      .expect(401, { detail: 'Invalid or expired access token.', code: 'access_token_invalid' });
    await host.get('/auth/sessions', jwt).expect(401);
  });

  it('what is neither is refused by the one whose form it has', async () => {
    const jwts = host.app.get(JwtService);
    const forged = [
      await jwts.signAsync({ sub: alice }, { secret: 'another secret' }),
      await jwts.signAsync({ sub: alice }, { expiresIn: -1 }),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(`{"sub":"${alice}"}`).toString('base64url')}.`,
      'a.b.c',
    ];
    for (const token of forged)
      await host.get('/orders', token).expect(401, { message: 'Unauthorized', statusCode: 401 });
    await host
      .get('/orders', 'abc')
      .expect(401, { detail: 'Invalid or expired access token.', code: 'access_token_invalid' });
    await host.http
      .get('/orders')
      .expect(401, { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' });
    const [oldOne, newOne] = [jwt, (await host.login()).access_token].map((token) => `Authorization: Bearer ${token}`);
    const both = await sendRaw(host, ['GET /orders HTTP/1.1', newOne!, oldOne!]);
    expect(both.status).toBe(400);
  });

  it('a session that ends is over, though the old token of its user goes on until its time is over', async () => {
    const { access_token: token } = await host.login();
    await host.post('/auth/logout/all', token).expect(200);
    await host.get('/orders', token).expect(401);
    await host.get('/orders', jwt).expect(200);
  });

  it('an old refresh token opens a session once, which is one like any other; a JWT opens none', async () => {
    host.app.get(OldRefreshTokens).users.set('an old refresh token', alice);
    const exchange = (refresh: string) => host.http.post('/session').send({ refresh });
    const { body } = await exchange('an old refresh token').expect(201);
    await host.get('/profile', body.access_token).expect(200, { username: 'alice' });
    await host.refresh(body.refresh_token).expect(200);
    expect(host.sent('user_logged_in')).toHaveLength(1);
    await exchange('an old refresh token').expect(401);
    await exchange(jwt).expect(401);
  });
});
