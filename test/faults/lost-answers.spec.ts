import type { AuthModuleOptions, TokenPair } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { CookieSessions } from '../../libs/auth/src/services/sessions/cookie-sessions';
import { paramsInTransaction } from '../../libs/auth/src/store/database/transaction';
import { createDatabase, describeEachPooled, describeOn, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';
import { Tap } from '../support/tap';

const connectionLost = (): Error => Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });

/** Loses the result of the next commit, after it was done and `meanwhile` as well. */
function loseNextCommit(host: Host, meanwhile: () => Promise<unknown> = async () => undefined): void {
  const tap = new Tap(host);
  tap.hook = {
    after: async ({ sql }) => {
      if (sql !== 'COMMIT' && !sql.startsWith('WITH changed')) return;
      tap.hook = {};
      await meanwhile();
      throw connectionLost();
    },
  };
}

async function eventsOf(host: Host, event: string): Promise<number> {
  return (await host.dataSource.query(`SELECT id FROM auth_events WHERE event = '${event}'`)).length;
}

describeEachPooled('a refresh whose commit is done and its result lost on %s', (name) => {
  let database: TestDatabase;
  const hosts: Host[] = [];

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
    await database.drop();
  });

  async function start(auth: AuthModuleOptions = {}, users: readonly string[] = ['alice']): Promise<Host> {
    const host = await Host.start({ database, auth, users });
    hosts.push(host);
    return host;
  }

  function expectNoAlarm(host: Host): void {
    expect(host.sent('token_reuse_detected')).toEqual([]);
    expect(host.sent('user_logged_out')).toEqual([]);
  }

  it.each<AuthModuleOptions>([{}, { rotateRefreshTokens: false }, { refreshReuseGraceSeconds: 10 }])(
    'returns the committed pair, and is recorded once: %j',
    async (auth) => {
      const host = await start(auth);
      const { refresh_token: token } = await host.login();
      loseNextCommit(host);
      const { accessToken, refreshToken } = await host.auth.refresh(token);
      await host.get('/me', accessToken).expect(200);
      expect(await eventsOf(host, 'token_refresh')).toBe(1);
      await host.refresh(refreshToken).expect(200);
      expectNoAlarm(host);
    },
  );

  it('returns the committed pair with its expiries over cookies, with its access token and without', async () => {
    const host = await start({ cookies: { mode: 'optional' } });
    const cookies = host.app.get(CookieSessions);
    let pair: TokenPair = await host.auth.login({ username: 'alice', password: PASSWORD });
    for (const hasAccessToken of [true, false]) {
      host.clock.advance(60_000);
      const { refreshToken, accessToken } = pair;
      loseNextCommit(host);
      pair = await cookies.refresh({ refreshToken, accessToken: hasAccessToken ? accessToken : null }, {});
      expect(pair.refreshToken).not.toBe(refreshToken);
      expect(pair.accessTokenExpiresAt.getTime()).toBe(host.clock.now() + 900_000);
      await host.get('/me', pair.accessToken).expect(200);
    }
    expect(await eventsOf(host, 'token_refresh')).toBe(2);
    expectNoAlarm(host);
  });

  it('is refused without an alarm where the password was changed before the retry', async () => {
    const host = await start();
    const session = await host.login();
    const principal = (await host.auth.authenticate(session.access_token))!;
    const change = { currentPassword: PASSWORD, newPassword: 'a password that is new' };
    loseNextCommit(host, () => host.auth.changePassword(principal, change));
    await host.refresh(session.refresh_token).expect(400);
    expectNoAlarm(host);
  });

  it('returns tokens that are revoked where the session ended before the retry', async () => {
    const host = await start();
    const session = await host.login();
    const principal = (await host.auth.authenticate(session.access_token))!;
    loseNextCommit(host, () => host.auth.logout(principal));
    const pair = await host.auth.refresh(session.refresh_token);
    await host.get('/me', pair.accessToken).expect(401);
    await host.refresh(pair.refreshToken).expect(400);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    expect(host.sent('user_logged_out')).toMatchObject([{ reason: 'logout' }]);
  });

  it('returns the committed pair where another instance issued it again before the retry', async () => {
    const host = await start({ refreshReuseGraceSeconds: 10 });
    const other = await start({ refreshReuseGraceSeconds: 10 }, []);
    const session = await host.login();
    let replayed: unknown;
    loseNextCommit(host, async () => (replayed = await other.auth.refresh(session.refresh_token)));
    expect(await host.auth.refresh(session.refresh_token)).toEqual(replayed);
    expectNoAlarm(host);
  });

  it('is refused without an alarm where another instance issued the pair again and exchanged it', async () => {
    const host = await start({ refreshReuseGraceSeconds: 10 });
    const other = await start({ refreshReuseGraceSeconds: 10 }, []);
    const session = await host.login();
    let live = '';
    loseNextCommit(host, async () => {
      const { refreshToken } = await other.auth.refresh(session.refresh_token);
      live = (await other.auth.refresh(refreshToken)).refreshToken;
    });
    await host.refresh(session.refresh_token).expect(400);
    for (const one of [host, other]) expectNoAlarm(one);
    await other.refresh(live).expect(200);
  });
});

describeEachPooled('a login whose commit is done and its result lost on %s', (name) => {
  it('returns the session that was opened, recorded and reported once', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const tap = new Tap(host);
    let lost = 0;
    let isOpening = false;
    tap.hook = {
      after: ({ sql }) => {
        if (/^INSERT INTO .auth_sessions/.test(sql)) isOpening = true;
        if (sql === 'COMMIT' && isOpening && lost++ === 0) throw connectionLost();
      },
    };
    const session = await host.login();
    expect(lost).toBeGreaterThan(1);
    await host.get('/me', session.access_token).expect(200);
    expect(await host.dataSource.query('SELECT id FROM auth_sessions')).toHaveLength(1);
    expect(await eventsOf(host, 'login_success')).toBe(1);
    expect(host.sent('user_logged_in')).toHaveLength(1);
    await host.close();
    await database.drop();
  });
});

describeEachPooled('a reauthentication whose commit is done and its result lost on %s', (name) => {
  it('returns the committed pair, and is recorded once', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database, auth: { recentLogin: { endpoint: true } } });
    const session = await host.login();
    const tap = new Tap(host);
    let isReplacing = false;
    tap.hook = {
      after: ({ sql }) => {
        if (/^UPDATE .auth_sessions.*access_digest/s.test(sql)) isReplacing = true;
        if (!sql.startsWith('WITH changed') && !(sql === 'COMMIT' && isReplacing)) return;
        tap.hook = {};
        throw connectionLost();
      },
    };
    const { body } = await host.post('/auth/reauthenticate', session.access_token, { password: PASSWORD }).expect(200);
    expect(tap.hook).toEqual({});
    await host.get('/me', body.access_token).expect(200);
    expect(await eventsOf(host, 'reauthentication')).toBe(1);
    await host.close();
    await database.drop();
  });
});

describeOn('postgres')('a refresh whose connection is lost while the database still executes it', () => {
  it('waits for it and returns its pair', async () => {
    const database = await createDatabase('postgres');
    const host = await Host.start({ database });
    const session = await host.login();
    const first = host.dataSource.createQueryRunner();
    const tap = new Tap(host);
    let isLost = false;
    tap.hook = {
      async before(call) {
        if (isLost || !call.sql.startsWith('WITH changed')) return;
        isLost = true;
        tap.hook = {};
        await first.startTransaction();
        await first.query(call.sql, paramsInTransaction(call));
        void whenAnyWaits(host.dataSource).then(() => first.commitTransaction());
        throw connectionLost();
      },
    };
    const { accessToken } = await host.auth.refresh(session.refresh_token);
    await first.release();
    expect(isLost).toBe(true);
    await host.get('/me', accessToken).expect(200);
    expect(await eventsOf(host, 'token_refresh')).toBe(1);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    await host.close();
    await database.drop();
  });
});

async function whenAnyWaits(dataSource: DataSource): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await dataSource.query<unknown[]>(waiting)).length === 0) await new Promise(setImmediate);
}
