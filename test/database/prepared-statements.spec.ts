import type { TokenPair } from 'nestjs-session-auth';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../libs/auth/src/database/database';
import { REMAINING_MS, type Row } from '../../libs/auth/src/database/transaction';
import type { Lease } from '../../libs/auth/src/database/typeorm';
import { describeOn, DIALECTS } from '../support/databases';
import { describeOnEachServer } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import { connectionsOf, withDeadline } from '../support/tap';
import type { TestApplication } from '../support/test-application';

describeOnEachServer('prepared statements', {}, ({ app, name, start }) => {
  const isPostgres = DIALECTS[name] === 'postgres';

  it('the prepared read of the guard continues to work after a migration changes a column that the statement reads', async () => {
    const { access_token: token } = await app.login();
    await app.get('/me', token).expect(200);
    const change = isPostgres ? 'ALTER COLUMN device_name TYPE varchar(80)' : 'MODIFY device_name varchar(80) NOT NULL';
    await app.dataSource.query(`ALTER TABLE auth_sessions ${change}`);
    for (let i = 0; i < 5; i++) await app.get('/me', token).expect(200);
  });

  if (!isPostgres) return;

  it('each prepared read has a unique name, because other clients may share the connection behind a pooler', async () => {
    const { access_token: token } = await app.login();
    await app.get('/me', token).expect(200);
    const known = await preparedOn(app);
    expect(known.length).toBeGreaterThan(0);
    for (const { name: statement, text } of known) {
      expect(statement).toBe(`auth_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`);
    }
  });

  // A pooler that assigns a different connection to each transaction has the same effect.
  it.each<[what: string, statement: string, repeat: (app: TestApplication, pair: TokenPair) => PromiseLike<unknown>]>([
    ['a guarded request', 'SELECT', (app, { accessToken }) => app.get('/me', accessToken).expect(200)],
    ['a login', 'INSERT', (app) => app.login()],
    ['a refresh', 'WITH changed', (app, { refreshToken }) => app.refresh(refreshToken).expect(200)],
  ])('%s succeeds after a pooler has lost its prepared statements', async (_, statement, repeat) => {
    const app = await start();
    const pair = await app.auth.refresh((await app.login()).refresh_token);
    await app.get('/me', pair.accessToken).expect(200);
    expect((await preparedOn(app)).filter(({ text }) => text.startsWith(statement))).not.toEqual([]);
    await onEachConnection(app, 'DEALLOCATE ALL');
    await repeat(app, pair);
    expect(app.logs.filter((line) => line.includes('namedStatements'))).toHaveLength(1);
  });

  it('a connection that becomes free after the deadline returns to the pool', async () => {
    const leases = await holdAll(app);
    const read = (): Promise<unknown> => app.nest.get(Database).read({ sql: 'SELECT 1 AS one', params: [] });
    await expect(withDeadline(app, 20, read)).rejects.toMatchObject({ code: 'database_unavailable' });
    release(leases);
    await sleep(50);
    const known = new Set(leases.map(({ connection }) => connection));
    const again = await holdAll(app);
    expect(again.every(({ connection }) => known.has(connection))).toBe(true);
    release(again);
  });

  it('the timeout of a statement that waited for a connection is 90 % of the remaining time', async () => {
    const leases = await holdAll(app);
    const sql = 'SELECT CAST($1 AS integer) AS limit_ms';
    const limit = app.nest.get(Database).run(null, { sql, params: [REMAINING_MS] }, { withinMs: 2_000 });
    await sleep(1_000);
    release(leases);
    const limitMs = Number((await limit).rows[0]!['limit_ms']);
    expect(limitMs).toBeGreaterThan(700);
    expect(limitMs).toBeLessThanOrEqual(900);
  });
});

/** The errors of a proxy without prepared statements and of a server with too many prepared statements. */
describeOn('mysql')('prepared statements that %s refuses', (name) => {
  it.each([1295, 1461])(
    'after error %d, a refused statement is sent as plain text, and so are all later statements',
    async (errno) => {
      const app = await startForTest(name, {});
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
    },
  );
});

/** Takes all of the library's connections. */
async function holdAll(app: TestApplication): Promise<Lease[]> {
  const connections = connectionsOf(app) as unknown as { obtain(): Promise<Lease> };
  const leases: Lease[] = [];
  while (leases.length < 5) leases.push(await connections.obtain());
  return leases;
}

function release(leases: readonly Lease[]): void {
  for (const lease of leases) lease.release(false);
}

async function onEachConnection(app: TestApplication, sql: string): Promise<Row[]> {
  const leases = await holdAll(app);
  const results = await Promise.all(leases.map(({ connection }) => connection.query({ text: sql })));
  release(leases);
  return results.flatMap(({ rows }) => rows);
}

async function preparedOn(app: TestApplication): Promise<{ name: string; text: string }[]> {
  const sql = "SELECT name, statement AS text FROM pg_prepared_statements WHERE name LIKE 'auth%'";
  return (await onEachConnection(app, sql)) as never;
}
