import { createHash } from 'node:crypto';
import { Database } from '../../libs/auth/src/database/database';
import { REMAINING_MS, type Row } from '../../libs/auth/src/database/transaction';
import type { Lease } from '../../libs/auth/src/database/typeorm';
import { createDatabase, describeEachPooled, describeOn, DIALECTS, type TestDatabase } from '../support/databases';
import { connectionsOf } from '../support/tap';
import { TestApplication } from '../support/test-application';

describeEachPooled('prepared statements on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it('the prepared read of the guard continues to work after a migration changes a column that the statement reads', async () => {
    const { access_token: token } = await app.login();
    await app.get('/me', token).expect(200);
    const change =
      DIALECTS[name] === 'postgres'
        ? 'ALTER COLUMN device_name TYPE varchar(80)'
        : 'MODIFY device_name varchar(80) NOT NULL';
    await app.dataSource.query(`ALTER TABLE auth_sessions ${change}`);
    for (let i = 0; i < 5; i++) await app.get('/me', token).expect(200);
  });

  if (DIALECTS[name] === 'postgres') {
    it('each prepared read has a unique name, because other clients may share the connection behind a pooler', async () => {
      const { access_token: token } = await app.login();
      await app.get('/me', token).expect(200);
      const known = await preparedOn(app);
      expect(known.length).toBeGreaterThan(0);
      for (const { name: statement, text } of known) {
        expect(statement).toBe(`auth_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`);
      }
    });

    it('the read of the guard is sent without a statement name after a pooler has lost a prepared statement', async () => {
      const { access_token: token } = await app.login();
      await app.get('/me', token).expect(200);
      // A pooler that assigns a different connection to each transaction has the same effect.
      await onEachConnection(app, 'DEALLOCATE ALL');
      for (let i = 0; i < 3; i++) await app.get('/me', token).expect(200);
      expect(app.logs.filter((line) => line.includes('namedStatements'))).toHaveLength(1);
    });

    it('a login succeeds after a pooler has lost prepared statements', async () => {
      const ownDatabase = await createDatabase(name);
      const own = await TestApplication.start({ database: ownDatabase });
      await own.login();
      expect((await preparedOn(own)).map(({ text }) => text.slice(0, 6))).toContain('INSERT');
      await onEachConnection(own, 'DEALLOCATE ALL');
      await own.login();
      expect(own.logs.filter((line) => line.includes('namedStatements'))).toHaveLength(1);
      await own.close();
      await ownDatabase.drop();
    });

    it('a connection that becomes free after the deadline returns to the pool', async () => {
      Object.assign(app.nest.get(Database), { answerWithinMs: 20 });
      const leases = await holdAll(app);
      await expect(app.nest.get(Database).read({ sql: 'SELECT 1 AS one', params: [] })).rejects.toMatchObject({
        code: 'database_unavailable',
      });
      Object.assign(app.nest.get(Database), { answerWithinMs: 5_000 });
      for (const lease of leases) lease.release(false);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const known = new Set(leases.map(({ connection }) => connection));
      const again = await holdAll(app);
      expect(again.every(({ connection }) => known.has(connection))).toBe(true);
      for (const lease of again) lease.release(false);
    });

    it('a refresh uses a prepared statement and continues to work if a pooler loses prepared statements', async () => {
      const ownDatabase = await createDatabase(name);
      const own = await TestApplication.start({ database: ownDatabase });
      const pair = await own.auth.refresh((await own.login()).refresh_token);
      expect((await preparedOn(own)).filter(({ text }) => text.startsWith('WITH changed'))).not.toHaveLength(0);
      await onEachConnection(own, 'DEALLOCATE ALL');
      const next = await own.auth.refresh(pair.refreshToken);
      await own.get('/me', next.accessToken).expect(200);
      await own.close();
      await ownDatabase.drop();
    });
  }
});

/** The errors of a proxy without prepared statements and of a server with too many prepared statements. */
describeOn('mysql')('prepared statements that %s refuses', (name) => {
  it.each([1295, 1461])(
    'after error %d, a refused statement is sent as plain text, and so are all later statements',
    async (errno) => {
      const database = await createDatabase(name);
      const app = await TestApplication.start({ database });
      const { access_token: token } = await app.login();
      const connections = connectionsOf(app) as unknown as { sendNow(...args: unknown[]): Promise<unknown> };
      const sendNow = connections.sendNow.bind(connections);
      const prepared: boolean[] = [];
      connections.sendNow = (...args) => {
        const isPrepared = args[3] === true;
        prepared.push(isPrepared);
        return isPrepared ? Promise.reject(Object.assign(new Error('no'), { errno })) : sendNow(...args);
      };
      await app.auth.authenticate(token);
      await app.auth.authenticate(token);
      expect(prepared).toEqual([true, false, false]);
      await app.close();
      await database.drop();
    },
  );
});

describeOn('postgres')('statements in autocommit mode', () => {
  it('the timeout of a statement that waited for a connection is 90 % of the remaining time', async () => {
    const database = await createDatabase('postgres');
    const app = await TestApplication.start({ database });
    const leases = await holdAll(app);
    const limit = app.nest
      .get(Database)
      .run(null, { sql: 'SELECT CAST($1 AS integer) AS limit_ms', params: [REMAINING_MS] }, { withinMs: 2_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const lease of leases) lease.release(false);
    const limitMs = Number((await limit).rows[0]!['limit_ms']);
    expect(limitMs).toBeGreaterThan(700);
    expect(limitMs).toBeLessThanOrEqual(900);
    await app.close();
    await database.drop();
  });
});

/** Takes all of the library's connections. */
async function holdAll(app: TestApplication): Promise<Lease[]> {
  const connections = connectionsOf(app) as unknown as { obtain(): Promise<Lease> };
  const leases: Lease[] = [];
  while (leases.length < 5) leases.push(await connections.obtain());
  return leases;
}

async function onEachConnection(app: TestApplication, sql: string): Promise<Row[]> {
  const leases = await holdAll(app);
  const results = await Promise.all(leases.map(({ connection }) => connection.query({ text: sql })));
  for (const lease of leases) lease.release(false);
  return results.flatMap(({ rows }) => rows);
}

async function preparedOn(app: TestApplication): Promise<{ name: string; text: string }[]> {
  const sql = "SELECT name, statement AS text FROM pg_prepared_statements WHERE name LIKE 'auth%'";
  return (await onEachConnection(app, sql)) as never;
}
