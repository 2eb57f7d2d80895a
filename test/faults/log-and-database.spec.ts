import { createDatabase, DATABASES, describeEachPooled, type TestDatabase } from '../support/databases';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Database } from '../../libs/auth/src/store/database/database';
import { EventIds } from '../../libs/auth/src/store/events/event-ids';
import { Host, PASSWORD } from '../support/host';
import { Tap } from '../support/tap';

describe.each(DATABASES)('when the event log cannot be written on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeEach(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  const breakLog = (): Promise<unknown> => host.dataSource.query('DROP TABLE auth_events');

  it('a login, a refresh and a password change fail as a whole', async () => {
    const session = await host.login();
    await breakLog();
    const before = await host.dataSource.query('SELECT * FROM auth_sessions');
    const credentials = { username: 'alice', password: PASSWORD };
    const answers = [
      await host.http.post('/auth/login').send(credentials),
      await host.refresh(session.refresh_token),
      await host.post('/auth/password/change', session.access_token, {
        current_password: PASSWORD,
        new_password: 'a password that is new',
      }),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body]).toEqual([503, { detail: 'The database does not answer.' }]);
      expect(headers['retry-after']).toMatch(/^[15]$/);
    }
    expect(await host.dataSource.query('SELECT * FROM auth_sessions')).toEqual(before);
    await host.get('/me', session.access_token).expect(200);
    expect(host.logs.join('\n')).not.toMatch(/INSERT|SELECT|nsa[ar]_|alice|horse/);
  });

  it('a logout is done, and the loss is logged', async () => {
    const session = await host.login();
    await breakLog();
    await host.post('/auth/logout', session.access_token).expect(200);
    await host.get('/me', session.access_token).expect(401);
    expect(host.logs.some((line) => line.includes('Lost: logout'))).toBe(true);
  });
});

const TABLE_LOCKS = { postgres: 'LOCK TABLE auth_events', mariadb: 'LOCK TABLES auth_events WRITE' };
const ROW_LOCK = 'SELECT id FROM auth_events FOR UPDATE';

describeEachPooled('when another transaction has locked the event log on %s', (name) => {
  const tableLock = TABLE_LOCKS[name];
  // On PostgreSQL locked rows are in nobody's way.
  const locks = name === 'mariadb' ? [tableLock, ROW_LOCK] : [tableLock];

  it.each(locks.flatMap((lock) => [0, 10].map((graceSeconds) => ({ lock, graceSeconds }))))(
    'a logout and the revocation after a reuse are committed within seconds, and the loss is logged: %j',
    async ({ lock, graceSeconds }) => {
      const database = await createDatabase(name);
      const host = await Host.start({ database, auth: { refreshReuseGraceSeconds: graceSeconds } });
      const [first, second] = [await host.login(), await host.login('bob')];
      await host.refresh(second.refresh_token).expect(200);
      host.clock.advance(11_000);
      const locker = host.dataSource.createQueryRunner();
      await locker.connect();
      const locksTables = lock.startsWith('LOCK TABLES');
      if (!locksTables) await locker.startTransaction('REPEATABLE READ');
      await locker.query(lock);

      const answers = await Promise.all([
        host.post('/auth/logout', first.access_token),
        host.refresh(second.refresh_token),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 400]);
      expect(host.sent('token_reuse_detected')).toHaveLength(1);
      await host.get('/me', first.access_token).expect(401);
      await host.get('/me', second.access_token).expect(401);
      expect(host.logs.join('\n')).toMatch(/Lost: logout/);
      expect(host.logs.join('\n')).toMatch(/Lost: token_reuse/);

      if (locksTables) await locker.query('UNLOCK TABLES');
      else await locker.rollbackTransaction();
      await locker.release();
      if (name === 'mariadb') {
        const [waits] = await host.dataSource.query(
          'SELECT @@lock_wait_timeout AS tables, @@innodb_lock_wait_timeout AS locked_rows',
        );
        expect(Number(waits.tables)).toBeGreaterThan(2);
        expect(Number(waits.locked_rows)).toBeGreaterThan(2);
      }
      await host.close();
      await database.drop();
    },
    30_000,
  );
});

describe.each(DATABASES)('an event id that is taken already on %s', (name) => {
  it('is replaced by another one', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const session = await host.login();
    const [{ id }] = await host.dataSource.query('SELECT id FROM auth_events');
    jest.spyOn(host.app.get(EventIds), 'next').mockReturnValueOnce(Number(id));
    await host.refresh(session.refresh_token).expect(200);
    expect(await host.dataSource.query("SELECT id FROM auth_events WHERE event = 'token_refresh'")).toHaveLength(1);
    expect(host.logs.join('\n')).not.toContain('The database failed');
    await host.close();
    await database.drop();
  });
});

describe.each(DATABASES)('what is stored on %s', (name) => {
  it('opens nothing: no token and no password is in any column', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const first = await host.login();
    const second = (await host.refresh(first.refresh_token)).body;
    const third = (
      await host.post('/auth/password/change', second.access_token, {
        current_password: PASSWORD,
        new_password: 'a password that is new',
      })
    ).body;
    const tables = host.dataSource.entityMetadatas.map(({ tableName }) => tableName);
    const rows = await Promise.all(tables.map((table) => host.dataSource.query(`SELECT * FROM ${table}`)));
    const dump = JSON.stringify(rows);
    expect(dump).toContain(first.session_id);
    for (const { access_token, refresh_token } of [first, second, third]) {
      expect(dump).not.toContain(access_token);
      expect(dump).not.toContain(refresh_token);
    }
    expect(dump).not.toContain('nsa');
    expect(dump).not.toContain(PASSWORD);
    await host.close();
    await database.drop();
  });
});

describe('a transaction of the application on the one connection of SQLite', () => {
  it('neither includes nor rolls back what the library does meanwhile', async () => {
    const database = await createDatabase('sqlite');
    const host = await Host.start({ database });
    const session = await host.login();
    let rollBack!: () => void;
    const transaction = host.dataSource
      .transaction(async (manager) => {
        await manager.query("UPDATE auth_users SET active = 0 WHERE username = 'bob'");
        await new Promise<void>((resolve) => (rollBack = resolve));
        throw new Error('no');
      })
      .catch(() => undefined);
    while (!rollBack) await new Promise((resolve) => setImmediate(resolve));
    const refreshed = host.refresh(session.refresh_token).then((answer) => answer);
    const login = host.login('bob');
    rollBack();
    await transaction;
    expect((await refreshed).status).toBe(200);
    expect((await login).token_type).toBe('Bearer');
    await host.refresh(session.refresh_token).expect(400);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    await host.close();
    await database.drop();
  });
});

describe('another process that writes to the file of SQLite', () => {
  it('is waited for without blocking the process, and nothing is done after a 503', async () => {
    const database = await createDatabase('sqlite');
    const host = await Host.start({ database });
    const session = await host.login();
    const other = await new DataSource(database.options).initialize();
    await other.query('BEGIN IMMEDIATE');
    const refreshed = host.refresh(session.refresh_token).then((answer) => answer);
    await host.get('/me', session.access_token).expect(200);
    await other.query('COMMIT');
    const pair = (await refreshed).body;
    await host.get('/me', pair.access_token).expect(200);

    await other.query('BEGIN IMMEDIATE');
    Object.assign(host.app.get(Database), { answerWithinMs: 50 });
    await host.refresh(pair.refresh_token).expect(503);
    await other.query('COMMIT');
    Object.assign(host.app.get(Database), { answerWithinMs: 5_000 });
    await host.refresh(pair.refresh_token).expect(200);
    const [{ timeout }] = await host.dataSource.query('PRAGMA busy_timeout');
    expect(timeout).toBe(5_000);
    await other.destroy();
    await host.close();
    await database.drop();
  });

  it('is waited for by readers as well where there is no WAL', async () => {
    const database = await createDatabase('sqlite');
    const options = { ...database.options, enableWAL: false } as DataSourceOptions;
    const host = await Host.start({ database: { ...database, options } });
    const session = await host.login();
    const other = await new DataSource(options).initialize();
    await other.query('BEGIN EXCLUSIVE');
    const answer = host.get('/me', session.access_token).then(({ status }) => status);
    await host.http.get('/open').expect(200);
    await other.query('COMMIT');
    expect(await answer).toBe(200);
    await other.destroy();
    await host.close();
    await database.drop();
  });
});

describe.each(DATABASES)('what TypeORM reads for the application on %s', (name) => {
  it('is answered with 503 when it fails', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const session = await host.login();
    const tap = new Tap(host);
    let failures = 0;
    tap.hook = {
      before: ({ sql }) => {
        if (!sql.includes('AuthUser')) return;
        failures++;
        throw new Error('out of order');
      },
    };
    const answer = await host.get('/me', session.access_token);
    expect([failures, answer.status, answer.body]).toEqual([1, 503, { detail: 'The database does not answer.' }]);
    await host.close();
    await database.drop();
  });
});

describe.each(DATABASES)('when the DataSource is closed on %s', (name) => {
  it('every route answers 503 and no handler runs', async () => {
    const database = await createDatabase(name);
    const host = await Host.start({ database });
    const session = await host.login();
    await host.dataSource.destroy();
    const answers = [
      await host.get('/me', session.access_token),
      await host.get('/auth/sessions', session.access_token),
      await host.refresh(session.refresh_token),
      await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body]).toEqual([503, { detail: 'The database does not answer.' }]);
      expect([headers['retry-after'], headers['cache-control']]).toEqual([expect.stringMatching(/^[15]$/), 'no-store']);
    }
    await host.dataSource.initialize();
    await host.get('/me', session.access_token).expect(200);
    await host.close();
    await database.drop();
  });
});
