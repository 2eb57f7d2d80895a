import { Injectable, type Type } from '@nestjs/common';
import { SecondFactor, SessionAdministration, type UserId } from 'nestjs-session-auth';
import { blocksUnder } from '../docs/code-blocks';
import { runBlock } from '../docs/run-block';
import { describeOnEachDatabase } from '../support/environment';
import { PASSWORD, type TestApplication } from '../support/test-application';

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

/** Requires a second factor of bob. */
@Injectable()
class FactorOfBob extends SecondFactor {
  isRequired(user: { readonly username?: string }): boolean {
    return user.username === 'bob';
  }
}

const [exchange] = blocksUnder('docs/moving-from-jwt.md', '## Keep users signed in');
const { ExchangeController } = runBlock<{ ExchangeController: Type }>(exchange!, {
  modules: { './old-tokens.js': { OldTokens } },
});

const options = {
  auth: { secondFactor: FactorOfBob },
  controllers: [ExchangeController],
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
  const newPassword = 'a new and better password';

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

  it.each<[string, (app: TestApplication, userId: string) => Promise<unknown>]>([
    [
      'a password change',
      async (the, userId) => {
        const principal = (await the.auth.authenticate((await the.login()).access_token))!;
        await the.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword });
        await the.auth.resetPassword(userId, PASSWORD);
      },
    ],
    ['a password reset', ({ auth }, userId) => auth.resetPassword(userId, PASSWORD)],
    ['endSessions', ({ auth }, userId) => auth.endSessions(userId)],
    [
      'the end of all sessions by an administrator',
      ({ nest }, userId) => nest.get(SessionAdministration).end({ userId }, { actor: 'carol' }),
    ],
    ['logout/all', async (the) => the.post('/auth/logout/all', (await the.login()).access_token).expect(200)],
    [
      'reuse of a refresh token',
      async (the) => {
        const { refresh_token: used } = await the.login();
        for (const status of [200, 400]) await the.refresh(used).expect(status);
      },
    ],
    [
      'disabling and enabling the user',
      async ({ auth }, id) => [await auth.disableUser(id), await auth.enableUser(id)],
    ],
  ])('after %s, old refresh tokens from before are refused, and later ones are accepted', async (_, end) => {
    const [before, other] = [await issue(), await issue()];
    app.clock.advance(1000);
    await end(app, await app.userId());
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
