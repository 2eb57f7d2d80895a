import { Injectable } from '@nestjs/common';
import type { UserId } from 'nestjs-session-auth';
import { codeOf } from '../docs/run-block';
import { describeOnEachDatabase } from '../support/environment';
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

const { ExchangeController } = codeOf('docs/moving-from-jwt.md')('## Keep users signed in', {
  modules: { './old-tokens.js': { OldTokens } },
});

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
