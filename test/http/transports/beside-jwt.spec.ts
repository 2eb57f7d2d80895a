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
import { createDatabase, type TestDatabase } from '../../support/databases';
import { TestApplication } from '../../support/test-application';
import { sendRaw } from '../../support/environment';

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

/** The table of the old refresh tokens. A single DELETE takes a token, so that only one request can use it. */
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

  /** A route that accepts only tokens of the library. */
  @Get('profile')
  @UseGuards(BearerAuthGuard)
  profile(@CurrentUser() { username }: AuthUser): object {
    return { username };
  }

  /** Exchanges an old refresh token for a session and deletes the old token. */
  @Post('session')
  async session(@Body() { refresh }: { refresh: string }, @Req() request: AuthRequest): Promise<object> {
    const userId = this.old.take(refresh);
    if (userId === undefined) throw new UnauthorizedException();
    const { accessToken, refreshToken } = await this.auth.openSession({ id: userId }, clientInfoOf(request));
    return { access_token: accessToken, refresh_token: refreshToken };
  }
}

describe('applications that move from JWTs to sessions', () => {
  let database: TestDatabase;
  let app: TestApplication;
  let alice: string;
  let jwt: string;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({
      database,
      imports: [JwtModule.register({ secret: SECRET, signOptions: { expiresIn: '1h' } })],
      controllers: [OrdersController],
      providers: [EitherGuard, JwtGuard, OldRefreshTokens],
    });
    [{ id: alice }] = await app.dataSource.query("SELECT id FROM auth_users WHERE username = 'alice'");
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    await app.reset();
    jwt = await app.nest.get(JwtService).signAsync({ sub: alice });
  });

  it('routes with both guards accept both tokens, and routes with BearerAuthGuard accept only tokens of the library', async () => {
    const { access_token: token } = await app.login();
    await app.get('/orders', jwt).expect(200, { of: alice });
    await app.get('/orders', token).expect(200, { of: alice });
    await app.get('/profile', token).expect(200, { username: 'alice' });
    await app
      .get('/profile', jwt)
      .expect(401, { detail: 'Invalid or expired access token.', code: 'access_token_invalid' });
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
    for (const token of forged)
      await app.get('/orders', token).expect(401, { message: 'Unauthorized', statusCode: 401 });
    await app
      .get('/orders', 'abc')
      .expect(401, { detail: 'Invalid or expired access token.', code: 'access_token_invalid' });
    await app.http
      .get('/orders')
      .expect(401, { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' });
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

  it('an old refresh token opens one ordinary session, and a JWT opens none', async () => {
    app.nest.get(OldRefreshTokens).users.set('an old refresh token', alice);
    const exchange = (refresh: string) => app.http.post('/session').send({ refresh });
    const { body } = await exchange('an old refresh token').expect(201);
    await app.get('/profile', body.access_token).expect(200, { username: 'alice' });
    await app.refresh(body.refresh_token).expect(200);
    expect(app.sent('user_logged_in')).toHaveLength(1);
    await exchange('an old refresh token').expect(401);
    await exchange(jwt).expect(401);
  });
});
