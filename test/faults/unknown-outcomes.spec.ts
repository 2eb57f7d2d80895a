import { AuthSession } from 'nestjs-session-auth';
import { CookieSessions } from '../../libs/auth/src/services/sessions/cookie-sessions';
import { Database } from '../../libs/auth/src/store/database/database';
import type { ServerClock } from '../../libs/auth/src/store/database/server-clock';
import { autocommitParams } from '../../libs/auth/src/store/database/transaction';
import { createDatabase, DATABASES, describeEachPooled, describeOn, type TestDatabase } from '../support/databases';
import { SECOND } from '../support/driven-clock';
import { Host } from '../support/host';
import { Tap } from '../support/tap';

const UNAVAILABLE = { detail: 'The database does not answer.' };

type Pair = Readonly<Record<'access_token' | 'refresh_token', string>>;

/** Databases with servers, whose COMMIT can be done although its result comes too late or never. */
describeEachPooled('a refresh that was answered with 503 because its outcome is unknown, on %s', (name) => {
  let database: TestDatabase;
  let host: Host;
  let other: Host;
  let tap: Tap;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
    other = await Host.start({ database, users: [] });
    tap = new Tap(host);
  });
  afterAll(async () => {
    await host.close();
    await other.close();
    await database.drop();
  });
  beforeEach(() => host.reset());

  const isCommit = (sql: string): boolean => sql === 'COMMIT' || sql.startsWith('WITH changed');

  /**
   * Answers a refresh with 503.
   * @param isDone whether its commit is done, which hangs until after the response
   * @param from where the database begins to hang
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
    Object.assign(host.app.get(Database), { answerWithinMs: 200 });
    tap.hook = isDone ? { after: hang } : { before: hang };
    const { headers } = await host.refresh(token).expect(503, UNAVAILABLE);
    expect(headers['retry-after']).toBe('1');
    tap.hook = {};
    Object.assign(host.app.get(Database), { answerWithinMs: 5_000 });
    answer();
  }

  function expectNoAlarm(): void {
    for (const one of [host, other]) expect(one.sent('token_reuse_detected')).toEqual([]);
  }

  it.each([true, false])(
    'gets the pair issued then when its token is presented again (committed: %s)',
    async (isDone) => {
      const { refresh_token: token } = await host.login();
      await refreshLate(token, { isDone });
      const { body: pair } = (await host.refresh(token).expect(200)) as { body: Pair };
      await host.get('/me', pair.access_token).expect(200);
      const rows: unknown[] = await host.dataSource.query(`SELECT id FROM auth_events WHERE event = 'token_refresh'`);
      expect(rows).toHaveLength(1);
      await host.refresh(pair.refresh_token).expect(200);
      expectNoAlarm();
    },
  );

  it('gets it once: presenting the token after that, or twice at the same time, is reuse', async () => {
    const first = await host.login();
    await refreshLate(first.refresh_token, { isDone: true });
    await host.refresh(first.refresh_token).expect(200);
    await host.refresh(first.refresh_token).expect(400);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);

    const second = await host.login();
    await refreshLate(second.refresh_token, { isDone: true });
    const both = await Promise.all([1, 2].map(() => host.refresh(second.refresh_token)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(host.sent('token_reuse_detected')).toHaveLength(2);
  });

  it('gets it within a minute, and for as long as the outcome stays unknown', async () => {
    const { refresh_token: token } = await host.login();
    await refreshLate(token, { isDone: true });
    host.clock.advance(59 * SECOND);
    await refreshLate(token, { isDone: true, from: 'first statement' });
    host.clock.advance(59 * SECOND);
    await host.refresh(token).expect(200);
    expectNoAlarm();

    const late = await host.login();
    await refreshLate(late.refresh_token, { isDone: true });
    host.clock.advance(60 * SECOND);
    await host.refresh(late.refresh_token).expect(400);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('gets it from that instance alone: another one cannot know the pair without a grace period', async () => {
    const { refresh_token: token } = await host.login();
    await refreshLate(token, { isDone: true });
    await other.refresh(token).expect(400);
    expect(other.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('gets it over the same transport alone: a client with cookies gets no pair of a bearer client', async () => {
    const { refresh_token: refreshToken } = await host.login();
    await refreshLate(refreshToken, { isDone: true });
    const byCookie = host.app.get(CookieSessions).refresh({ refreshToken, accessToken: null }, {});
    await expect(byCookie).rejects.toMatchObject({ code: 'invalid_refresh_token' });
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('gets none for a token that had been used', async () => {
    const { refresh_token: token, session_id: id } = await host.login();
    await host.refresh(token).expect(200);
    await refreshLate(token, { isDone: true });
    await host.refresh(token).expect(400);
    const session = await host.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
    expect(session.endReason).toBe('token_reuse');
  });
});

describe.each(DATABASES)('a refresh during an outage on %s', (name) => {
  it('is tried until its deadline while connections are refused, and succeeds as soon as one is accepted', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const session = await host.login();
    const tap = new Tap(host);
    let refused = 0;
    tap.hook = {
      before: () => {
        if (tap.isSqlite || refused === 8) return;
        refused++;
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      },
    };
    await host.refresh(session.refresh_token).expect(200);
    expect(refused).toBe(tap.isSqlite ? 0 : 8);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    await host.close();
    await database.drop();
  });
});

describeOn('postgres')('a refresh that reaches the database after its caller was answered', () => {
  it('is not done, wherever its statement waited: its deadline is one by the clock of the database', async () => {
    const database = await createDatabase('postgres');
    const host = await Host.start({ database });
    const { refresh_token: first, session_id: id } = await host.login();
    const { refreshToken } = await host.auth.refresh(first);
    const tap = new Tap(host);
    const { clock } = host.app.get<{ clock: ServerClock }>(Database);
    const sent: { sql: string; params: unknown[] }[] = [];
    tap.hook = {
      before: (call) => {
        if (call.sql.startsWith('WITH changed'))
          sent.push({ sql: call.sql, params: autocommitParams(call, 200, clock) });
        throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
      },
    };
    Object.assign(host.app.get(Database), { answerWithinMs: 200 });
    await host.refresh(refreshToken).expect(503, UNAVAILABLE);
    tap.hook = {};
    const late = sent[0]!;
    await host.dataSource.query('SELECT pg_sleep(0.2)');
    await expect(host.dataSource.query(late.sql, late.params)).rejects.toThrow('division by zero');
    const session = await host.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
    expect(Number(session.generation)).toBe(1);
    await host.close();
    await database.drop();
  });
});
