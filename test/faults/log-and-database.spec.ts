import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';

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
      expect(headers['retry-after']).toBe('5');
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

describe('a transaction of the host on the one connection of SQLite', () => {
  it('neither takes in what the library does meanwhile nor throws it away', async () => {
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

describe.each(DATABASES)('when the database is away on %s', (name) => {
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
      expect([headers['retry-after'], headers['cache-control']]).toEqual(['5', 'no-store']);
    }
    await host.dataSource.initialize();
    await host.get('/me', session.access_token).expect(200);
    await host.close();
    await database.drop();
  });
});
