import { AuthSession, AuthUser } from 'nestjs-session-auth';
import { refreshWithCookies } from '../support/cookie-refresh';
import { Database } from '../../libs/auth/src/database/database';
import { bind } from '../../libs/auth/src/database/transaction';
import { createDatabase, DATABASES, describeEachPooled, describeOn, type TestDatabase } from '../support/databases';
import { SECOND } from '../support/driven-clock';
import { TestApplication } from '../support/test-application';
import { type Call, Tap } from '../support/tap';

const UNAVAILABLE = { detail: 'The database is unavailable.' };

type Pair = Readonly<Record<'access_token' | 'refresh_token', string>>;

/** Runs on databases with servers, on which a COMMIT can succeed although its result arrives late or never. */
describeEachPooled('a refresh that failed with 503 because its outcome is unknown, on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let other: TestApplication;
  let tap: Tap;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
    other = await TestApplication.start({ database, users: [] });
    tap = new Tap(app);
  });
  afterAll(async () => {
    await app.close();
    await other.close();
    await database.drop();
  });
  beforeEach(() => app.reset());

  const isCommit = (sql: string): boolean => sql === 'COMMIT' || sql.startsWith('WITH changed');

  /**
   * Makes a refresh fail with 503.
   *
   * @param isDone whether the commit succeeds, but hangs until after the response
   * @param from the statement at which the database begins to hang
   */
  async function refreshLate(
    token: string,
    { isDone, from = 'commit' }: { readonly isDone: boolean; readonly from?: 'commit' | 'first statement' },
  ): Promise<void> {
    let answer!: () => void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let isHanging = from === 'first statement';
    const hang = async ({ sql }: { sql: string }): Promise<void> => {
      if (!isCommit(sql) && !isHanging) return;
      isHanging = true;
      await answered;
    };
    Object.assign(app.nest.get(Database), { answerWithinMs: 200 });
    tap.hook = isDone ? { after: hang } : { before: hang };
    const { headers } = await app.refresh(token).expect(503, UNAVAILABLE);
    expect(headers['retry-after']).toBe('1');
    tap.hook = {};
    Object.assign(app.nest.get(Database), { answerWithinMs: 5_000 });
    answer();
  }

  function expectNoAlarm(): void {
    for (const one of [app, other]) expect(one.sent('token_reuse_detected')).toEqual([]);
  }

  it.each([true, false])(
    'repeating the refresh returns a valid pair, and one refresh is recorded (first refresh committed: %s)',
    async (isDone) => {
      const { refresh_token: token } = await app.login();
      await refreshLate(token, { isDone });
      const { body: pair } = (await app.refresh(token).expect(200)) as { body: Pair };
      await app.get('/me', pair.access_token).expect(200);
      const rows: unknown[] = await app.dataSource.query(`SELECT id FROM auth_events WHERE event = 'token_refresh'`);
      expect(rows).toHaveLength(1);
      await app.refresh(pair.refresh_token).expect(200);
      expectNoAlarm();
    },
  );

  it('repeating the refresh returns the pair once, and presenting the token again is reuse', async () => {
    const first = await app.login();
    await refreshLate(first.refresh_token, { isDone: true });
    await app.refresh(first.refresh_token).expect(200);
    await app.refresh(first.refresh_token).expect(400);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);

    const second = await app.login();
    await refreshLate(second.refresh_token, { isDone: true });
    const both = await Promise.all([1, 2].map(() => app.refresh(second.refresh_token)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(app.sent('token_reuse_detected')).toHaveLength(2);
  });

  it('repeating the refresh returns the pair within a minute, and as long as the outcome stays unknown', async () => {
    const { refresh_token: token } = await app.login();
    await refreshLate(token, { isDone: true });
    app.clock.advance(59 * SECOND);
    await refreshLate(token, { isDone: true, from: 'first statement' });
    app.clock.advance(59 * SECOND);
    await app.refresh(token).expect(200);
    expectNoAlarm();

    const late = await app.login();
    await refreshLate(late.refresh_token, { isDone: true });
    app.clock.advance(60 * SECOND);
    await app.refresh(late.refresh_token).expect(400);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('without a grace period, repeating the refresh on another instance is reuse', async () => {
    const { refresh_token: token } = await app.login();
    await refreshLate(token, { isDone: true });
    await other.refresh(token).expect(400);
    expect(other.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('repeating the refresh over a different transport is reuse', async () => {
    const { refresh_token: refreshToken } = await app.login();
    await refreshLate(refreshToken, { isDone: true });
    const byCookie = refreshWithCookies(app, { refreshToken, accessToken: null });
    await expect(byCookie).rejects.toMatchObject({ code: 'invalid_refresh_token' });
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('repeating a refresh with a token that had already been used is reuse', async () => {
    const { refresh_token: token, session_id: id } = await app.login();
    await app.refresh(token).expect(200);
    await refreshLate(token, { isDone: true });
    await app.refresh(token).expect(400);
    const session = await app.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
    expect(session.endReason).toBe('token_reuse');
  });
});

describeEachPooled('a replay that failed with 503 because its outcome is unknown, on %s', (name) => {
  it('repeating the refresh after the grace period returns the replayed pair, and is not reuse', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database, auth: { refreshReuseGraceSeconds: 10 } });
    const { refresh_token: token } = await app.login();
    const { body: pair } = (await app.refresh(token).expect(200)) as { body: Pair };
    const tap = new Tap(app);
    let answer!: () => void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    tap.hook = { after: ({ sql }) => (sql === 'COMMIT' ? answered : undefined) };
    Object.assign(app.nest.get(Database), { answerWithinMs: 200 });
    await app.refresh(token).expect(503, UNAVAILABLE);
    tap.hook = {};
    Object.assign(app.nest.get(Database), { answerWithinMs: 5_000 });
    answer();
    app.clock.advance(11 * SECOND);
    expect((await app.refresh(token).expect(200)).body).toMatchObject(pair);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    await app.close();
    await database.drop();
  });
});

describeEachPooled('the creation of a user whose connection breaks, on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;
  let tap: Tap;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
    tap = new Tap(app);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  /** Creates a user. The connection breaks once, after the server has executed the statement. */
  async function createUser(username: string, brokenAt: RegExp): Promise<unknown> {
    let isBroken = false;
    tap.hook = {
      after: ({ sql }) => {
        if (isBroken || !brokenAt.test(sql)) return;
        isBroken = true;
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      },
    };
    const outcome = await app.auth.createUser({ username, password: null }).then(
      () => 'created',
      ({ code }: { code: string }) => code,
    );
    tap.hook = {};
    expect(await app.dataSource.getRepository(AuthUser).countBy({ username })).toBe(1);
    return outcome;
  }

  it('a user is created if the connection breaks at the INSERT', async () => {
    expect(await createUser('carol 1', /INSERT INTO .auth_users/)).toBe('created');
  });

  it('the INSERT is not repeated if the connection breaks at the COMMIT, because the user may exist', async () => {
    expect(await createUser('carol 2', /^COMMIT$/)).toBe('database_unavailable');
  });
});

describe.each(DATABASES)('a refresh during an outage on %s', (name) => {
  it('a refresh is retried while connections are refused, and succeeds when one is accepted', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const session = await app.login();
    const tap = new Tap(app);
    let refused = 0;
    tap.hook = {
      before: () => {
        if (tap.isSqlite || refused === 8) return;
        refused++;
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      },
    };
    await app.refresh(session.refresh_token).expect(200);
    expect(refused).toBe(tap.isSqlite ? 0 : 8);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    await app.close();
    await database.drop();
  });
});

describeOn('postgres')('a refresh that takes longer than its deadline in the database', (name) => {
  it('the refresh is not executed', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const { refresh_token: first, session_id: id } = await app.login();
    const { refreshToken } = await app.auth.refresh(first);
    const tap = new Tap(app);
    const sent: Call[] = [];
    tap.hook = {
      before: (call) => {
        if (call.sql.startsWith('WITH changed')) sent.push({ ...call });
        throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
      },
    };
    Object.assign(app.nest.get(Database), { answerWithinMs: 200 });
    await app.refresh(refreshToken).expect(503, UNAVAILABLE);
    tap.hook = {};
    const [late] = sent;
    // In a transaction, the time of a statement that waits for a lock starts at BEGIN.
    const locked = app.dataSource.transaction(async (manager) => {
      await manager.query('SELECT pg_sleep(0.2)');
      await manager.query(late!.sql, bind(late!, 180));
    });
    await expect(locked).rejects.toThrow('division by zero');
    const session = await app.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
    expect(Number(session.generation)).toBe(1);
    await app.close();
    await database.drop();
  });
});
