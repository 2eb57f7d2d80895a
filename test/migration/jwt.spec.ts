import { Injectable, type Type } from '@nestjs/common';
import { JwtModule, JwtService } from '@nestjs/jwt';
import type { FormerTokens, UserId } from 'nestjs-session-auth';
import { codeOf } from '../docs/run-block';
import { describeApplication, describeOnEachDatabase, INVALID_ACCESS } from '../support/environment';
import { controllerOf, OfRequest, returning } from '../support/handlers';
import { secondFactorIf } from '../support/second-factor';
import { PASSWORD } from '../support/test-application';

interface OldToken {
  readonly userId: UserId;
  readonly issuedAt: Date;
}

/** The refresh tokens of the old application. */
@Injectable()
class OldTokens {
  static readonly stored = new Map<string, OldToken>();

  take(token: string): Promise<OldToken | undefined> {
    const found = OldTokens.stored.get(token);
    OldTokens.stored.delete(token);
    return Promise.resolve(found);
  }
}

const code = codeOf('docs/moving-from-jwt.md');
const { JwtTokens } = code<{ JwtTokens: Type<FormerTokens> }>('## Steps');
const { ExchangeController } = code('## Keep users signed in', { modules: { './old-tokens.js': { OldTokens } } });

const options = {
  auth: { secondFactor: secondFactorIf(({ username }) => username === 'bob') },
  controllers: [ExchangeController!],
  providers: [OldTokens],
};

describeOnEachDatabase('the exchange of old refresh tokens in docs/moving-from-jwt.md', options, ({ app }) => {
  /** Returns an old refresh token of a user, issued now. */
  const issue = async (username = 'alice'): Promise<string> => {
    const token = `old ${OldTokens.stored.size} of ${username}`;
    OldTokens.stored.set(token, { userId: await app.userId(username), issuedAt: new Date(app.clock.now()) });
    return token;
  };
  const send = (refresh: string) => app.http.post('/exchange').send({ refresh });

  beforeEach(() => OldTokens.stored.clear());

  it('an old refresh token is exchanged once, for a session that proves no password', async () => {
    const token = await issue();
    const { body } = await send(token).expect(201);
    await app.get('/me', body.access_token as string).expect(200);
    const principal = (await app.auth.authenticate(body.access_token as string))!;
    expect(Object.keys(principal.methods)).toEqual(['former_token']);
    expect(() => app.auth.assertRecentLogin(principal, 300, ['pwd'])).toThrow('A recent login is required.');
    await send(token).expect(401);
  });

  it('after a password reset, old refresh tokens from before are refused, and later ones are accepted', async () => {
    const [before, other] = [await issue(), await issue()];
    app.clock.advance(1000);
    await app.auth.resetPassword(await app.userId(), PASSWORD);
    await send(before).expect(401);
    app.clock.advance(1000);
    await send(await issue()).expect(201);
    await send(other).expect(401);
  });

  it('an old refresh token is refused if the sessions of its user end during the exchange', async () => {
    const token = await issue();
    const userId = await app.userId();
    app.clock.advance(1000);
    const open = app.auth.openSession.bind(app.auth);
    jest.spyOn(app.auth, 'openSession').mockImplementationOnce(async (...given) => {
      await app.auth.endSessions(userId);
      return open(...given);
    });
    await send(token).expect(400);
    expect(await app.auth.listSessions(userId)).toEqual([]);
    jest.restoreAllMocks();
  });

  it('an old refresh token opens no session of a user who needs a second factor', async () => {
    await send(await issue('bob')).expect(403);
    expect(await app.auth.listSessions(await app.userId('bob'))).toEqual([]);
  });
});

const secret = 'the secret of the application';
const withJwts = {
  imports: [JwtModule.register({ secret, signOptions: { expiresIn: '1h' }, global: true })],
  controllers: [controllerOf('orders', [], { own: [returning(OfRequest('user'))] })],
  auth: { formerTokens: JwtTokens, globalGuard: true },
};

describeApplication('the JWTs in docs/moving-from-jwt.md', withJwts, ({ app }) => {
  const sign = (...given: Parameters<JwtService['signAsync']>) => app.nest.get(JwtService).signAsync(...given);

  it('a route accepts JWTs and tokens of the library, until a logout from everywhere refuses both', async () => {
    const { access_token: token } = await app.login();
    const id = await app.userId();
    const jwt = await sign({ sub: id, iat: Math.floor(app.clock.now() / 1000) }, { expiresIn: '100y' });
    for (const accepted of [jwt, token])
      await app.get('/orders/own', accepted).expect(200, [{ id, username: 'alice' }]);
    app.clock.advance(1000);
    await app.post('/auth/logout/all', token).expect(200);
    for (const refused of [jwt, token]) await app.get('/orders/own', refused).expect(401, INVALID_ACCESS);
  });

  it('a JWT that is forged or expired is refused like an invalid access token', async () => {
    const sub = await app.userId();
    const [none, payload] = ['{"alg":"none"}', `{"sub":"${sub}"}`].map((text) =>
      Buffer.from(text).toString('base64url'),
    );
    for (const forged of [
      await sign({ sub }, { secret: 'another secret' }),
      await sign({ sub }, { expiresIn: -1 }),
      ...[`${none}.${payload}.`, 'a.b.c', 'abc'],
    ]) {
      await app.get('/orders/own', forged).expect(401, INVALID_ACCESS);
    }
  });
});
