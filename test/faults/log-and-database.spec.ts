import { createDatabase, DATABASES, describeEachPooled, DIALECTS, type TestDatabase } from '../support/databases';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { EventLog } from '../../libs/auth/src/history/event-log';
import { TestApplication, PASSWORD } from '../support/test-application';
import { Tap } from '../support/tap';

describe.each(DATABASES)('when the event log cannot be written on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeEach(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const breakLog = (): Promise<unknown> => app.dataSource.query('DROP TABLE auth_events');

  it('a login, a refresh and a password change are rolled back completely if their event cannot be written', async () => {
    const session = await app.login();
    await breakLog();
    const before = await app.dataSource.query('SELECT * FROM auth_sessions');
    const users = await app.dataSource.query('SELECT * FROM auth_users');
    const credentials = { username: 'alice', password: PASSWORD };
    const answers = [
      await app.http.post('/auth/login').send(credentials),
      await app.refresh(session.refresh_token),
      await app.post('/auth/password/change', session.access_token, {
        current_password: PASSWORD,
        new_password: 'a password that is new',
      }),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body]).toEqual([503, { detail: 'The database is unavailable.' }]);
      expect(headers['retry-after']).toMatch(/^[15]$/);
    }
    expect(await app.dataSource.query('SELECT * FROM auth_sessions')).toEqual(before);
    expect(await app.dataSource.query('SELECT * FROM auth_users')).toEqual(users);
    await app.get('/me', session.access_token).expect(200);
    expect(app.logs.join('\n')).not.toMatch(/INSERT|SELECT|nsa[ar]_|alice|horse/);
  });

  it('a logout takes effect even if its event cannot be written, and the loss of the event is logged', async () => {
    const session = await app.login();
    await breakLog();
    await app.post('/auth/logout', session.access_token).expect(200);
    await app.get('/me', session.access_token).expect(401);
    expect(app.logs.some((line) => line.includes('Lost events: logout'))).toBe(true);
  });
});

const TABLE_LOCKS = { postgres: 'LOCK TABLE auth_events', mysql: 'LOCK TABLES auth_events WRITE' };
const ROW_LOCK = 'SELECT id FROM auth_events FOR UPDATE';

describeEachPooled('when another transaction has locked the event log on %s', (name) => {
  const tableLock = TABLE_LOCKS[DIALECTS[name]];
  // On PostgreSQL a locked row of the event log does not block inserts.
  const locks = DIALECTS[name] === 'mysql' ? [tableLock, ROW_LOCK] : [tableLock];

  it.each(locks.flatMap((lock) => [0, 10].map((graceSeconds) => ({ lock, graceSeconds }))))(
    'a logout and the revocation after reuse are committed within seconds, and the loss of the events is logged (%j)',
    async ({ lock, graceSeconds }) => {
      const database = await createDatabase(name);
      const app = await TestApplication.start({ database, auth: { refreshReuseGraceSeconds: graceSeconds } });
      const [first, second] = [await app.login(), await app.login('bob')];
      await app.refresh(second.refresh_token).expect(200);
      app.clock.advance(11_000);
      const locker = app.dataSource.createQueryRunner();
      await locker.connect();
      const locksTables = lock.startsWith('LOCK TABLES');
      if (!locksTables) await locker.startTransaction('REPEATABLE READ');
      await locker.query(lock);

      const answers = await Promise.all([
        app.post('/auth/logout', first.access_token),
        app.refresh(second.refresh_token),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 400]);
      expect(app.sent('token_reuse_detected')).toHaveLength(1);
      await app.get('/me', first.access_token).expect(401);
      await app.get('/me', second.access_token).expect(401);
      expect(app.logs.join('\n')).toMatch(/Lost events: logout/);
      expect(app.logs.join('\n')).toMatch(/Lost events: token_reuse/);

      if (locksTables) await locker.query('UNLOCK TABLES');
      else await locker.rollbackTransaction();
      await locker.release();
      if (DIALECTS[name] === 'mysql') {
        const [waits] = await app.dataSource.query(
          'SELECT @@lock_wait_timeout AS tables, @@innodb_lock_wait_timeout AS locked_rows',
        );
        expect(Number(waits.tables)).toBeGreaterThan(2);
        expect(Number(waits.locked_rows)).toBeGreaterThan(2);
      }
      await app.close();
      await database.drop();
    },
    30_000,
  );
});

describeEachPooled('an event log that does not respond, on %s', (name) => {
  it('the revocation after reuse is committed although its event has used up the time of the refresh', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const session = await app.login();
    await app.refresh(session.refresh_token).expect(200);
    let respond!: () => void;
    const responding = new Promise<void>((resolve) => (respond = resolve));
    new Tap(app).hook = { before: ({ sql }) => (/^INSERT INTO\W+auth_events/.test(sql) ? responding : undefined) };
    Object.assign(app.nest.get(Database), { answerWithinMs: 300 });
    await app.refresh(session.refresh_token).expect(400);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
    expect(app.logs.join('\n')).toContain('Lost events: token_reuse');
    respond();
    await app.close();
    await database.drop();
  });
});

describe.each(DATABASES)('conflicts of event ids on %s', (name) => {
  it('an event id that already exists is replaced by a new id', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const session = await app.login();
    const [{ id }] = await app.dataSource.query('SELECT id FROM auth_events');
    const log = app.nest.get<{ nextId(): number }>(EventLog);
    jest.spyOn(log, 'nextId').mockReturnValueOnce(Number(id));
    await app.refresh(session.refresh_token).expect(200);
    expect(await app.dataSource.query("SELECT id FROM auth_events WHERE event = 'token_refresh'")).toHaveLength(1);
    expect(app.logs.join('\n')).not.toContain('The database failed');
    await app.close();
    await database.drop();
  });
});

describe.each(DATABASES)('the contents of the database on %s', (name) => {
  it('no column contains a token or a password', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const first = await app.login();
    const second = (await app.refresh(first.refresh_token)).body;
    const third = (
      await app.post('/auth/password/change', second.access_token, {
        current_password: PASSWORD,
        new_password: 'a password that is new',
      })
    ).body;
    const tables = app.dataSource.entityMetadatas.map(({ tableName }) => tableName);
    const rows = await Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM ${table}`)));
    const dump = JSON.stringify(rows);
    expect(dump).toContain(first.session_id);
    for (const { access_token, refresh_token } of [first, second, third]) {
      expect(dump).not.toContain(access_token);
      expect(dump).not.toContain(refresh_token);
    }
    expect(dump).not.toContain('nsa');
    expect(dump).not.toContain(PASSWORD);
    expect(dump).not.toContain('a password that is new');
    await app.close();
    await database.drop();
  });
});

describe('a transaction of the application on the one connection of SQLite', () => {
  it('a transaction of the application neither includes nor rolls back parallel operations of the library', async () => {
    const database = await createDatabase('sqlite');
    const app = await TestApplication.start({ database });
    const session = await app.login();
    let rollBack!: () => void;
    const transaction = app.dataSource
      .transaction(async (manager) => {
        await manager.query("UPDATE auth_users SET active = 0 WHERE username = 'bob'");
        await new Promise<void>((resolve) => (rollBack = resolve));
        throw new Error('no');
      })
      .catch(() => undefined);
    while (!rollBack) await new Promise((resolve) => setImmediate(resolve));
    const refreshed = app.refresh(session.refresh_token).then((answer) => answer);
    const login = app.login('bob');
    rollBack();
    await transaction;
    expect((await refreshed).status).toBe(200);
    expect((await login).token_type).toBe('Bearer');
    await app.refresh(session.refresh_token).expect(400);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
    await app.close();
    await database.drop();
  });
});

describe('SQLite files with another writing process', () => {
  it('operations wait for the other process without blocking, and nothing is written after a 503', async () => {
    const database = await createDatabase('sqlite');
    const app = await TestApplication.start({ database });
    const session = await app.login();
    const other = await new DataSource(database.options).initialize();
    await other.query('BEGIN IMMEDIATE');
    const refreshed = app.refresh(session.refresh_token).then((answer) => answer);
    await app.get('/me', session.access_token).expect(200);
    await other.query('COMMIT');
    const pair = (await refreshed).body;
    await app.get('/me', pair.access_token).expect(200);

    await other.query('BEGIN IMMEDIATE');
    Object.assign(app.nest.get(Database), { answerWithinMs: 50 });
    await app.refresh(pair.refresh_token).expect(503);
    await other.query('COMMIT');
    Object.assign(app.nest.get(Database), { answerWithinMs: 5_000 });
    await app.refresh(pair.refresh_token).expect(200);
    const [{ timeout }] = await app.dataSource.query('PRAGMA busy_timeout');
    expect(timeout).toBe(5_000);
    await other.destroy();
    await app.close();
    await database.drop();
  });

  it.each(['DELETE', 'MEMORY'])('reads wait for the other process with the journal mode %s', async (mode) => {
    const database = await createDatabase('sqlite');
    const prepareDatabase = (opened: { pragma(source: string): unknown }): unknown =>
      opened.pragma(`journal_mode = ${mode}`);
    const options = { ...database.options, enableWAL: false, prepareDatabase } as DataSourceOptions;
    const app = await TestApplication.start({ database: { ...database, options } });
    const session = await app.login();
    const other = await new DataSource(options).initialize();
    await other.query('BEGIN EXCLUSIVE');
    const answer = app.get('/me', session.access_token).then(({ status }) => status);
    await app.http.get('/open').expect(200);
    await other.query('COMMIT');
    expect(await answer).toBe(200);
    await other.destroy();
    await app.close();
    await database.drop();
  });
});

describe.each(DATABASES)('failed reads of TypeORM on %s', (name) => {
  it('a request whose read fails receives 503', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const session = await app.login();
    const tap = new Tap(app);
    let failures = 0;
    tap.hook = {
      before: ({ sql }) => {
        if (!sql.includes('AuthUser')) return;
        failures++;
        throw new Error('out of order');
      },
    };
    const answer = await app.get('/me', session.access_token);
    expect([failures, answer.status, answer.body]).toEqual([1, 503, { detail: 'The database is unavailable.' }]);
    await app.close();
    await database.drop();
  });
});

describe.each(DATABASES)('when the DataSource is closed on %s', (name) => {
  it('guarded routes, logins and refreshes respond with 503 while the DataSource is closed', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({ database });
    const session = await app.login();
    await app.dataSource.destroy();
    const answers = [
      await app.get('/me', session.access_token),
      await app.get('/auth/sessions', session.access_token),
      await app.refresh(session.refresh_token),
      await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body]).toEqual([503, { detail: 'The database is unavailable.' }]);
      expect([headers['retry-after'], headers['cache-control']]).toEqual([expect.stringMatching(/^[15]$/), 'no-store']);
    }
    await app.dataSource.initialize();
    await app.get('/me', session.access_token).expect(200);
    await app.close();
    await database.drop();
  });
});
