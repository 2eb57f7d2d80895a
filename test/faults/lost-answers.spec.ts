import { AuthEvent, type AuthModuleOptions, type TokenPair } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { bind } from '../../libs/auth/src/database/transaction';
import { refreshWithCookies } from '../support/cookie-refresh';
import { describeOn } from '../support/databases';
import { describeOnEachServer } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import { connectionLost, Tap } from '../support/tap';
import { PASSWORD, type TestApplication } from '../support/test-application';

/** Loses the result of the next commit, after the commit and after `meanwhile`. */
function loseNextCommit(app: TestApplication, meanwhile: () => Promise<unknown> = async () => undefined): void {
  const tap = new Tap(app);
  tap.hook = {
    after: async ({ sql }) => {
      if (sql !== 'COMMIT' && !sql.startsWith('WITH changed')) return;
      tap.hook = {};
      await meanwhile();
      throw connectionLost();
    },
  };
}

const refreshesOf = (app: TestApplication): Promise<number> =>
  app.dataSource.getRepository(AuthEvent).countBy({ event: 'token_refresh' });

function expectNoAlarm(...apps: readonly TestApplication[]): void {
  for (const app of apps) expect(app.signals.filter(({ name }) => /reuse|logged_out/.test(name))).toEqual([]);
}

describeOnEachServer('a refresh whose result is lost after the commit', {}, ({ start }) => {
  const startWith = (auth: AuthModuleOptions): Promise<TestApplication> => start({ auth });

  it.each<AuthModuleOptions>([{}, { rotateRefreshTokens: false }, { refreshReuseGraceSeconds: 10 }])(
    'the refresh returns the committed pair and is recorded once, with the options %j',
    async (auth) => {
      const app = await startWith(auth);
      const { refresh_token: token } = await app.login();
      loseNextCommit(app);
      const { accessToken, refreshToken } = await app.auth.refresh(token);
      await app.get('/me', accessToken).expect(200);
      expect(await refreshesOf(app)).toBe(1);
      await app.refresh(refreshToken).expect(200);
      expectNoAlarm(app);
    },
  );

  it('a refresh over cookies, with or without the access token, returns the committed pair with the expiries', async () => {
    const app = await startWith({ cookies: { mode: 'optional' } });
    let pair: TokenPair = await app.auth.login({ username: 'alice', password: PASSWORD });
    for (const hasAccessToken of [true, false]) {
      app.clock.advance(60_000);
      const { refreshToken, accessToken } = pair;
      loseNextCommit(app);
      pair = await refreshWithCookies(app, { refreshToken, accessToken: hasAccessToken ? accessToken : null });
      expect(pair.refreshToken).not.toBe(refreshToken);
      expect(pair.accessTokenExpiresAt.getTime()).toBe(app.clock.now() + 900_000);
      expect(pair.refreshTokenExpiresAt.getTime()).toBe(app.clock.now() + 604_800_000);
      await app.get('/me', pair.accessToken).expect(200);
    }
    expect(await refreshesOf(app)).toBe(2);
    expectNoAlarm(app);
  });

  it('the retry of a refresh is refused, but is not reuse, if the password was changed before the retry', async () => {
    const app = await startWith({});
    await app.auth.createUser({ username: 'carol', password: PASSWORD });
    const session = await app.login('carol');
    const principal = (await app.auth.authenticate(session.access_token))!;
    const change = { currentPassword: PASSWORD, newPassword: 'a password that is new' };
    loseNextCommit(app, () => app.auth.changePassword(principal, change));
    await app.refresh(session.refresh_token).expect(400);
    expectNoAlarm(app);
  });

  it('the retry of a refresh returns revoked tokens if the session ended before the retry', async () => {
    const app = await startWith({});
    const session = await app.login();
    const principal = (await app.auth.authenticate(session.access_token))!;
    loseNextCommit(app, () => app.auth.logout(principal));
    const pair = await app.auth.refresh(session.refresh_token);
    await app.get('/me', pair.accessToken).expect(401);
    await app.refresh(pair.refreshToken).expect(400);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    expect(app.sent('user_logged_out')).toMatchObject([{ reason: 'logout' }]);
  });

  const GRACE = { refreshReuseGraceSeconds: 10 };

  it('the retry of a refresh returns the committed pair if another instance has already replayed that pair', async () => {
    const [app, other] = [await startWith(GRACE), await startWith(GRACE)];
    const session = await app.login();
    let replayed: unknown;
    loseNextCommit(app, async () => (replayed = await other.auth.refresh(session.refresh_token)));
    expect(await app.auth.refresh(session.refresh_token)).toEqual(replayed);
    expectNoAlarm(app);
  });

  it('the retry of a refresh is refused, but is not reuse, if another instance replayed the pair and then refreshed it', async () => {
    const [app, other] = [await startWith(GRACE), await startWith(GRACE)];
    const session = await app.login();
    let live = '';
    loseNextCommit(app, async () => {
      const { refreshToken } = await other.auth.refresh(session.refresh_token);
      live = (await other.auth.refresh(refreshToken)).refreshToken;
    });
    await app.refresh(session.refresh_token).expect(400);
    expectNoAlarm(app, other);
    await other.refresh(live).expect(200);
  });
});

describeOn('postgres')('a refresh whose connection is lost while the database still executes it', (name) => {
  it('the refresh waits for the database and returns its pair', async () => {
    const app = await startForTest(name, {});
    const session = await app.login();
    const first = app.dataSource.createQueryRunner();
    const tap = new Tap(app);
    tap.hook = {
      async before(call) {
        if (!call.sql.startsWith('WITH changed')) return;
        tap.hook = {};
        await first.startTransaction();
        await first.query(call.sql, bind(call));
        void whenAnyWaits(app.dataSource).then(() => first.commitTransaction());
        throw connectionLost();
      },
    };
    const { accessToken } = await app.auth.refresh(session.refresh_token);
    await first.release();
    expect(tap.hook).toEqual({});
    await app.get('/me', accessToken).expect(200);
    expect(await refreshesOf(app)).toBe(1);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });
});

async function whenAnyWaits(dataSource: DataSource): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await dataSource.query<unknown[]>(waiting)).length === 0) await new Promise(setImmediate);
}
