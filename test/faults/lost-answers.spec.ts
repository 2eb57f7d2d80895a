import type { AuthModuleOptions, TokenPair } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { bind } from '../../libs/auth/src/database/transaction';
import { refreshWithCookies } from '../support/cookie-refresh';
import { createDatabase, describeEachPooled, describeOn, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';
import { Tap } from '../support/tap';

const connectionLost = (): Error => Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });

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

async function eventsOf(app: TestApplication, event: string): Promise<number> {
  return (await app.dataSource.query(`SELECT id FROM auth_events WHERE event = '${event}'`)).length;
}

describeEachPooled('a refresh whose result is lost after the commit, on %s', (name) => {
  let database: TestDatabase;
  const apps: TestApplication[] = [];

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await database.drop();
  });

  async function start(auth: AuthModuleOptions = {}, users: readonly string[] = ['alice']): Promise<TestApplication> {
    const app = await TestApplication.start({ database, auth, users });
    apps.push(app);
    return app;
  }

  function expectNoAlarm(app: TestApplication): void {
    expect(app.sent('token_reuse_detected')).toEqual([]);
    expect(app.sent('user_logged_out')).toEqual([]);
  }

  it.each<AuthModuleOptions>([{}, { rotateRefreshTokens: false }, { refreshReuseGraceSeconds: 10 }])(
    'the refresh returns the committed pair and is recorded once, with the options %j',
    async (auth) => {
      const app = await start(auth);
      const { refresh_token: token } = await app.login();
      loseNextCommit(app);
      const { accessToken, refreshToken } = await app.auth.refresh(token);
      await app.get('/me', accessToken).expect(200);
      expect(await eventsOf(app, 'token_refresh')).toBe(1);
      await app.refresh(refreshToken).expect(200);
      expectNoAlarm(app);
    },
  );

  it('a refresh over cookies, with or without the access token, returns the committed pair with the expiries', async () => {
    const app = await start({ cookies: { mode: 'optional' } });
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
    expect(await eventsOf(app, 'token_refresh')).toBe(2);
    expectNoAlarm(app);
  });

  it('the retry of a refresh is refused, but is not reuse, if the password was changed before the retry', async () => {
    const app = await start();
    const session = await app.login();
    const principal = (await app.auth.authenticate(session.access_token))!;
    const change = { currentPassword: PASSWORD, newPassword: 'a password that is new' };
    loseNextCommit(app, () => app.auth.changePassword(principal, change));
    await app.refresh(session.refresh_token).expect(400);
    expectNoAlarm(app);
  });

  it('the retry of a refresh returns revoked tokens if the session ended before the retry', async () => {
    const app = await start();
    const session = await app.login();
    const principal = (await app.auth.authenticate(session.access_token))!;
    loseNextCommit(app, () => app.auth.logout(principal));
    const pair = await app.auth.refresh(session.refresh_token);
    await app.get('/me', pair.accessToken).expect(401);
    await app.refresh(pair.refreshToken).expect(400);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    expect(app.sent('user_logged_out')).toMatchObject([{ reason: 'logout' }]);
  });

  it('the retry of a refresh returns the committed pair if another instance has already replayed that pair', async () => {
    const app = await start({ refreshReuseGraceSeconds: 10 });
    const other = await start({ refreshReuseGraceSeconds: 10 }, []);
    const session = await app.login();
    let replayed: unknown;
    loseNextCommit(app, async () => (replayed = await other.auth.refresh(session.refresh_token)));
    expect(await app.auth.refresh(session.refresh_token)).toEqual(replayed);
    expectNoAlarm(app);
  });

  it('the retry of a refresh is refused, but is not reuse, if another instance replayed the pair and then refreshed it', async () => {
    const app = await start({ refreshReuseGraceSeconds: 10 });
    const other = await start({ refreshReuseGraceSeconds: 10 }, []);
    const session = await app.login();
    let live = '';
    loseNextCommit(app, async () => {
      const { refreshToken } = await other.auth.refresh(session.refresh_token);
      live = (await other.auth.refresh(refreshToken)).refreshToken;
    });
    await app.refresh(session.refresh_token).expect(400);
    for (const one of [app, other]) expectNoAlarm(one);
    await other.refresh(live).expect(200);
  });
});

describeEachPooled('a login whose result is lost after the commit, on %s', (name) => {
  it('the login returns the committed session, which is opened, recorded and emitted once', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const tap = new Tap(app);
    let lost = 0;
    let isOpening = false;
    tap.hook = {
      after: ({ sql }) => {
        if (/^INSERT INTO .auth_sessions/.test(sql)) isOpening = true;
        if (sql === 'COMMIT' && isOpening && lost++ === 0) throw connectionLost();
      },
    };
    const session = await app.login();
    expect(lost).toBeGreaterThan(1);
    await app.get('/me', session.access_token).expect(200);
    expect(await app.dataSource.query('SELECT id FROM auth_sessions')).toHaveLength(1);
    expect(await eventsOf(app, 'login_success')).toBe(1);
    expect(app.sent('user_logged_in')).toHaveLength(1);
    await app.close();
    await database.drop();
  });
});

describeEachPooled('a reauthentication whose result is lost after the commit, on %s', (name) => {
  it('the reauthentication returns the committed pair, and is recorded once', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database, auth: { recentLogin: { endpoint: true } } });
    const session = await app.login();
    const tap = new Tap(app);
    let isReplacing = false;
    tap.hook = {
      after: ({ sql }) => {
        if (/^UPDATE .auth_sessions.*access_digest/s.test(sql)) isReplacing = true;
        if (!sql.startsWith('WITH changed') && !(sql === 'COMMIT' && isReplacing)) return;
        tap.hook = {};
        throw connectionLost();
      },
    };
    const { body } = await app.post('/auth/reauthenticate', session.access_token, { password: PASSWORD }).expect(200);
    expect(tap.hook).toEqual({});
    await app.get('/me', body.access_token).expect(200);
    expect(await eventsOf(app, 'reauthentication')).toBe(1);
    await app.close();
    await database.drop();
  });
});

describeOn('postgres')('a refresh whose connection is lost while the database still executes it', (name) => {
  it('the refresh waits for the database and returns its pair', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const session = await app.login();
    const first = app.dataSource.createQueryRunner();
    const tap = new Tap(app);
    let isLost = false;
    tap.hook = {
      async before(call) {
        if (isLost || !call.sql.startsWith('WITH changed')) return;
        isLost = true;
        tap.hook = {};
        await first.startTransaction();
        await first.query(call.sql, bind(call));
        void whenAnyWaits(app.dataSource).then(() => first.commitTransaction());
        throw connectionLost();
      },
    };
    const { accessToken } = await app.auth.refresh(session.refresh_token);
    await first.release();
    expect(isLost).toBe(true);
    await app.get('/me', accessToken).expect(200);
    expect(await eventsOf(app, 'token_refresh')).toBe(1);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    await app.close();
    await database.drop();
  });
});

async function whenAnyWaits(dataSource: DataSource): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await dataSource.query<unknown[]>(waiting)).length === 0) await new Promise(setImmediate);
}
