import { AuthUser } from 'nestjs-session-auth';
import { refreshWithCookies } from '../support/cookie-refresh';
import { bind } from '../../libs/auth/src/database/transaction';
import { describeOn } from '../support/databases';
import { SECOND } from '../support/driven-clock';
import { describeOnEachServer, UNAVAILABLE } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import { type Call, connectionLost, pending, Tap, withDeadline } from '../support/tap';
import type { TestApplication } from '../support/test-application';

type Pair = Readonly<Record<'access_token' | 'refresh_token', string>>;

/**
 * Makes a refresh fail with 503.
 * @param isDone whether the commit succeeds, but hangs until after the response
 * @param at matches the statements that hang. After the first of them, all statements hang
 */
async function refreshLate(
  app: TestApplication,
  tap: Tap,
  token: string,
  isDone = true,
  at = /^(COMMIT$|WITH changed)/,
): Promise<void> {
  const answered = pending();
  let isHanging = false;
  const hang = async ({ sql }: { sql: string }): Promise<void> => {
    if (!at.test(sql) && !isHanging) return;
    isHanging = true;
    await answered.promise;
  };
  tap.hook = isDone ? { after: hang } : { before: hang };
  const { status, body, headers } = await withDeadline(app, 500, async () => app.refresh(token));
  expect([status, body, headers['retry-after']]).toEqual([503, UNAVAILABLE, '1']);
  tap.hook = {};
  answered.resolve();
}

/** Runs on databases with servers, on which a COMMIT can succeed although its result arrives late or never. */
describeOnEachServer('a refresh that failed with 503 because its outcome is unknown', {}, ({ app, start, tap }) => {
  const fail = (token: string, isDone?: boolean, at?: RegExp): Promise<void> =>
    refreshLate(app, tap, token, isDone, at);
  const expectReuses = (reuses: number): void => expect(app.sent('token_reuse_detected')).toHaveLength(reuses);

  it.each([true, false])(
    'repeating the refresh returns a valid pair, and one refresh is recorded (first refresh committed: %s)',
    async (isDone) => {
      const { refresh_token: token } = await app.login();
      await fail(token, isDone);
      const { body: pair } = (await app.refresh(token).expect(200)) as { body: Pair };
      await app.get('/me', pair.access_token).expect(200);
      const rows: unknown[] = await app.dataSource.query(`SELECT id FROM auth_events WHERE event = 'token_refresh'`);
      expect(rows).toHaveLength(1);
      await app.refresh(pair.refresh_token).expect(200);
      expectReuses(0);
    },
  );

  it('repeating the refresh returns the pair once, and presenting the token again is reuse', async () => {
    const first = await app.login();
    await fail(first.refresh_token);
    await app.refresh(first.refresh_token).expect(200);
    await app.refresh(first.refresh_token).expect(400);
    expectReuses(1);

    const second = await app.login();
    await fail(second.refresh_token);
    const both = await Promise.all([1, 2].map(() => app.refresh(second.refresh_token)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expectReuses(2);
  });

  it('repeating the refresh returns the pair within a minute, and as long as the outcome stays unknown', async () => {
    const { refresh_token: token } = await app.login();
    await fail(token);
    app.clock.advance(59 * SECOND);
    await fail(token, true, /^/);
    app.clock.advance(59 * SECOND);
    await app.refresh(token).expect(200);
    expectReuses(0);

    const late = await app.login();
    await fail(late.refresh_token);
    app.clock.advance(60 * SECOND);
    await app.refresh(late.refresh_token).expect(400);
    expectReuses(1);
  });

  it('without a grace period, repeating the refresh on another instance is reuse', async () => {
    const other = await start();
    const { refresh_token: token } = await app.login();
    await fail(token);
    await other.refresh(token).expect(400);
    expect(other.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('repeating the refresh over a different transport is reuse', async () => {
    const { refresh_token: refreshToken } = await app.login();
    await fail(refreshToken);
    const byCookie = refreshWithCookies(app, { refreshToken, accessToken: null });
    await expect(byCookie).rejects.toMatchObject({ code: 'invalid_refresh_token' });
    expectReuses(1);
  });

  it('repeating a refresh with a token that had already been used is reuse', async () => {
    const { refresh_token: token, session_id: id } = await app.login();
    await app.refresh(token).expect(200);
    await fail(token);
    await app.refresh(token).expect(400);
    expect((await app.storedSession(id)).endReason).toBe('token_reuse');
  });

  it('repeating a replay after the grace period returns the replayed pair, and is not reuse', async () => {
    const app = await start({ auth: { refreshReuseGraceSeconds: 10 } });
    const { refresh_token: token } = await app.login();
    const { body: pair } = (await app.refresh(token).expect(200)) as { body: Pair };
    await refreshLate(app, new Tap(app), token, true, /^COMMIT$/);
    app.clock.advance(11 * SECOND);
    expect((await app.refresh(token).expect(200)).body).toMatchObject(pair);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it.each([
    ['a user is created if the connection breaks at the INSERT', /INSERT INTO .auth_users/, 'created'],
    [
      'the INSERT of a user is not repeated if the connection breaks at the COMMIT, because the user may exist',
      /^COMMIT$/,
      'database_unavailable',
    ],
  ])('%s', async (_, brokenAt, expected) => {
    const username = `carol ${expected}`;
    let isBroken = false;
    tap.hook = {
      after: ({ sql }) => {
        if (isBroken || !brokenAt.test(sql)) return;
        isBroken = true;
        throw connectionLost();
      },
    };
    const outcome = await app.auth.createUser({ username, password: null }).then(
      () => 'created',
      ({ code }: { code: string }) => code,
    );
    expect(outcome).toBe(expected);
    expect(await app.dataSource.getRepository(AuthUser).countBy({ username })).toBe(1);
  });
});

describeOn('postgres')('a refresh that takes longer than its deadline in the database', (name) => {
  it('the refresh is not executed', async () => {
    const app = await startForTest(name, {});
    const { refresh_token: first, session_id: id } = await app.login();
    const { refreshToken } = await app.auth.refresh(first);
    const tap = new Tap(app);
    let late: Call | undefined;
    tap.hook = {
      before: (call) => {
        if (call.sql.startsWith('WITH changed')) late ??= { ...call };
        throw connectionLost();
      },
    };
    const { status } = await withDeadline(app, 200, async () => app.refresh(refreshToken));
    expect(status).toBe(503);
    tap.hook = {};
    // In a transaction, the time of a statement that waits for a lock starts at BEGIN.
    const locked = app.dataSource.transaction(async (manager) => {
      await manager.query('SELECT pg_sleep(0.2)');
      await manager.query(late!.sql, bind(late!, 180));
    });
    await expect(locked).rejects.toThrow('division by zero');
    expect((await app.storedSession(id)).generation).toBe(1);
  });
});
