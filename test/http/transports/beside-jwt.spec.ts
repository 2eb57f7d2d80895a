import { Controller, Get, Injectable, Req, UnauthorizedException, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { BearerAuthGuard, CurrentUser, type AuthUser } from 'nestjs-session-auth';
import { blocksUnder } from '../../docs/code-blocks';
import { runBlock } from '../../docs/run-block';
import { describeApplication, sendRaw, userIdOf } from '../../support/environment';

const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };

interface JwtRequest {
  readonly headers: Record<string, string>;
  user?: { readonly userId: string };
}

/** The previous guard of the application. The subject of a signed JWT is the id of the user. */
@Injectable()
class JwtAuthGuard implements CanActivate {
  constructor(private readonly jwt: JwtService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<JwtRequest>();
    const token = request.headers['authorization']!.replace('Bearer ', '');
    const verified = this.jwt.verifyAsync<{ sub: string }>(token, { algorithms: ['HS256'] });
    const { sub } = await verified.catch(() => {
      throw new UnauthorizedException();
    });
    request.user = { userId: sub };
    return true;
  }
}

const [steps] = blocksUnder('docs/moving-from-jwt.md', '## Steps');
/** The guard of the guide, which passes JWTs to the previous guard and other tokens to the library. */
const { EitherGuard } = runBlock<{ EitherGuard: Type<CanActivate> }>(steps!, {
  modules: { './jwt-auth.guard.js': { JwtAuthGuard } },
});

@Controller()
class OrdersController {
  @Get('orders')
  @UseGuards(EitherGuard)
  orders(@Req() { user }: JwtRequest): object {
    return { of: user!.userId };
  }

  /** A route that accepts only tokens of the library. */
  @Get('profile')
  @UseGuards(BearerAuthGuard)
  profile(@CurrentUser() { username }: AuthUser): object {
    return { username };
  }
}

const options = {
  imports: [JwtModule.register({ secret: 'the secret of the application', signOptions: { expiresIn: '1h' } })],
  controllers: [OrdersController],
  providers: [EitherGuard, JwtAuthGuard],
};

describeApplication('applications that move from JWTs to sessions', options, (env) => {
  let alice: string;
  let jwts: JwtService;
  let jwt: string;

  beforeEach(async () => {
    alice = await userIdOf(env.app);
    jwts = env.app.nest.get(JwtService);
    jwt = await jwts.signAsync({ sub: alice });
  });

  it('routes with both guards accept both tokens, and routes with BearerAuthGuard accept only tokens of the library', async () => {
    const { app } = env;
    const { access_token: token } = await app.login();
    for (const accepted of [jwt, token]) await app.get('/orders', accepted).expect(200, { of: alice });
    await app.get('/profile', token).expect(200, { username: 'alice' });
    for (const path of ['/profile', '/auth/sessions']) await app.get(path, jwt).expect(401, INVALID);
    await app.post('/auth/logout/all', token).expect(200);
    await app.get('/orders', token).expect(401);
    // The JWT stays valid until it expires.
    await app.get('/orders', jwt).expect(200);
  });

  it('an invalid token is refused by the guard for its format', async () => {
    const { app } = env;
    const [none, payload] = ['{"alg":"none"}', `{"sub":"${alice}"}`].map((text) =>
      Buffer.from(text).toString('base64url'),
    );
    for (const forged of [
      await jwts.signAsync({ sub: alice }, { secret: 'another secret' }),
      await jwts.signAsync({ sub: alice }, { expiresIn: -1 }),
      ...[`${none}.${payload}.`, 'a.b.c'],
    ]) {
      await app.get('/orders', forged).expect(401, { message: 'Unauthorized', statusCode: 401 });
    }
    await app.get('/orders', 'abc').expect(401, INVALID);
    expect((await app.http.get('/orders').expect(401)).body).toMatchObject({ code: 'credentials_missing' });
    const both = [jwt, (await app.login()).access_token].map((token) => `Authorization: Bearer ${token}`);
    expect((await sendRaw(app, ['GET /orders HTTP/1.1', ...both.reverse()])).status).toBe(400);
  });
});
