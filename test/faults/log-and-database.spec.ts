import { describeEachPooled, DIALECTS } from '../support/databases';
import { DataSource } from 'typeorm';
import { EventLog } from '../../libs/auth/src/history/event-log';
import { describeOnEachDatabase, describeOnEachServer, UNAVAILABLE } from '../support/environment';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { pending, withDeadline } from '../support/tap';
import { PASSWORD } from '../support/test-application';

const CREDENTIALS = { username: 'alice', password: PASSWORD };

const TABLE_LOCKS = { postgres: 'LOCK TABLE auth_events', mysql: 'LOCK TABLES auth_events WRITE' };
const ROW_LOCK = 'SELECT id FROM auth_events FOR UPDATE';

describeEachPooled('when another transaction has locked the event log on %s', (name) => {
  const isPostgres = DIALECTS[name] === 'postgres';
  // On PostgreSQL a locked row of the event log does not block inserts.
  const locks = isPostgres ? [TABLE_LOCKS.postgres] : [TABLE_LOCKS.mysql, ROW_LOCK];

  it.each(locks.flatMap((lock) => [0, 10].map((graceSeconds) => ({ lock, graceSeconds }))))(
    'a logout and the revocation after reuse are committed within seconds, and the loss of the events is logged (%j)',
    async ({ lock, graceSeconds }) => {
      const app = await startForTest(name, { auth: { refreshReuseGraceSeconds: graceSeconds } });
      const [first, second] = [await app.login(), await app.login('bob')];
      await app.refresh(second.refresh_token).expect(200);
      app.clock.advance(11_000);
      const locker = app.dataSource.createQueryRunner();
      await locker.connect();
      const locksTables = lock.startsWith('LOCK TABLES');
      if (!locksTables) await locker.startTransaction('REPEATABLE READ');
      await locker.query(lock);
      await Promise.all([
        app.post('/auth/logout', first.access_token).expect(200),
        app.refresh(second.refresh_token).expect(400),
      ]);
      for (const { access_token: token } of [first, second]) await app.get('/me', token).expect(401);
      expect(app.sent('token_reuse_detected')).toHaveLength(1);
      for (const event of ['logout', 'token_reuse']) expect(app.logs.join('\n')).toContain(`Lost events: ${event}`);
      await (locksTables ? locker.query('UNLOCK TABLES') : locker.rollbackTransaction());
      await locker.release();
      if (isPostgres) return;
      const [waits] = await app.dataSource.query('SELECT @@lock_wait_timeout AS t, @@innodb_lock_wait_timeout AS r');
      for (const seconds of [waits.t, waits.r]) expect(Number(seconds)).toBeGreaterThan(2);
    },
  );
});

describeOnEachServer('a log that responds late', {}, ({ app, tap }) => {
  it('the revocation after reuse is committed although its event has used up the time of the refresh', async () => {
    const session = await app.login();
    await app.refresh(session.refresh_token).expect(200);
    const responding = pending();
    tap.hook = { before: ({ sql }) => (/^INSERT INTO\W+auth_events/.test(sql) ? responding.promise : undefined) };
    const { status } = await withDeadline(app, 500, async () => app.refresh(session.refresh_token));
    expect(status).toBe(400);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
    expect(app.logs.join('\n')).toContain('Lost events: token_reuse');
    responding.resolve();
  });
});

describeOnEachDatabase('the log and the database', {}, ({ app, start, tap }) => {
  it('an event id that already exists is replaced by a new id', async () => {
    const session = await app.login();
    const [{ id }] = await app.dataSource.query('SELECT id FROM auth_events');
    const log = app.nest.get<{ nextId(): number }>(EventLog);
    jest.spyOn(log, 'nextId').mockReturnValueOnce(Number(id));
    await app.refresh(session.refresh_token).expect(200);
    expect(await app.dataSource.query("SELECT id FROM auth_events WHERE event = 'token_refresh'")).toHaveLength(1);
    expect(app.logs.join('\n')).not.toContain('The database failed');
  });

  it('a request whose read by TypeORM fails receives 503', async () => {
    const session = await app.login();
    let failures = 0;
    tap.hook = {
      before: ({ sql }) => {
        if (sql.includes('u_id') && ++failures) throw new Error('out of order');
      },
    };
    await app.get('/me', session.access_token).expect(503, UNAVAILABLE);
    expect(failures).toBe(1);
  });

  it('guarded routes, logins and refreshes respond with 503 while the DataSource is closed', async () => {
    const app = await start();
    const session = await app.login();
    await app.dataSource.destroy();
    const answers = [
      await app.get('/me', session.access_token),
      await app.get('/auth/sessions', session.access_token),
      await app.refresh(session.refresh_token),
      await app.http.post('/auth/login').send(CREDENTIALS),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body]).toEqual([503, UNAVAILABLE]);
      expect([headers['retry-after'], headers['cache-control']]).toEqual([expect.stringMatching(/^[15]$/), 'no-store']);
    }
    await app.dataSource.initialize();
    await app.get('/me', session.access_token).expect(200);
  });
});

describe('SQLite files with another writing process', () => {
  async function startWithOther(given: object = {}) {
    const database = await databaseForTest('sqlite');
    const options = { ...database.options, ...given };
    const app = await startForTest({ ...database, options });
    const other = await new DataSource(options).initialize();
    return { app, other, session: await app.login() };
  }

  it('operations wait for the other process without blocking, and nothing is written after a 503', async () => {
    const { app, other, session } = await startWithOther();
    await other.query('BEGIN IMMEDIATE');
    const refreshed = app.refresh(session.refresh_token).then(({ body }) => body);
    await app.get('/me', session.access_token).expect(200);
    await other.query('COMMIT');
    const pair = await refreshed;
    await app.get('/me', pair.access_token).expect(200);

    await other.query('BEGIN IMMEDIATE');
    const { status } = await withDeadline(app, 50, async () => app.refresh(pair.refresh_token));
    expect(status).toBe(503);
    await other.query('COMMIT');
    await app.refresh(pair.refresh_token).expect(200);
    const [{ timeout }] = await app.dataSource.query('PRAGMA busy_timeout');
    expect(timeout).toBe(5_000);
    await other.destroy();
  });

  it.each(['DELETE', 'MEMORY'])('reads wait for the other process with the journal mode %s', async (mode) => {
    const prepareDatabase = (opened: { pragma(source: string): void }) => opened.pragma(`journal_mode = ${mode}`);
    const { app, other, session } = await startWithOther({ enableWAL: false, prepareDatabase });
    await other.query('BEGIN EXCLUSIVE');
    const answer = app.get('/me', session.access_token).then(({ status }) => status);
    await app.http.get('/open').expect(200);
    await other.query('COMMIT');
    expect(await answer).toBe(200);
    await other.destroy();
  });
});
