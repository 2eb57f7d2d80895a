import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { PooledDatabase } from '../../libs/auth/src/database/pooled-database';
import { raceWithDeadline } from '../../libs/auth/src/database/deadline';
import { DriverConnections } from '../../libs/auth/src/database/connections';
import { ServerClock } from '../../libs/auth/src/database/server-clock';
import { autocommitParams, REMAINING_MS, type Result } from '../../libs/auth/src/database/transaction';
import { createDatabase, describeEachPooled, DIALECTS, type TestDatabase } from '../support/databases';
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
      const known = await preparedOn(app.dataSource);
      expect(known.length).toBeGreaterThan(0);
      for (const { name: statement, text } of known) {
        expect(statement).toBe(`auth_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`);
      }
    });

    it('the read of the guard is sent without a statement name after a pooler has lost a prepared statement', async () => {
      const { access_token: token } = await app.login();
      await app.get('/me', token).expect(200);
      // A pooler that assigns a different connection to each transaction has the same effect.
      await onEachConnection(app.dataSource, 'DEALLOCATE ALL');
      for (let i = 0; i < 3; i++) await app.get('/me', token).expect(200);
      expect(app.logs.filter((line) => line.includes('namedStatements'))).toHaveLength(1);
    });

    it('a login succeeds after a pooler has lost prepared statements', async () => {
      const ownDatabase = await createDatabase(name);
      const own = await TestApplication.start({ database: ownDatabase });
      await own.login();
      expect((await preparedOn(own.dataSource)).map(({ text }) => text.slice(0, 6))).toContain('INSERT');
      await onEachConnection(own.dataSource, 'DEALLOCATE ALL');
      await own.login();
      expect(own.logs.filter((line) => line.includes('namedStatements'))).toHaveLength(1);
      await own.close();
      await ownDatabase.drop();
    });

    it('a connection that becomes free after the deadline returns to the pool', async () => {
      const { master } = app.dataSource.driver as unknown as {
        master: { on(event: string, listener: () => void): void };
      };
      let removed = 0;
      master.on('remove', () => removed++);
      const late = new PooledDatabase(app.dataSource, 'postgres');
      Object.assign(late, { answerWithinMs: 20 });
      const holders = await holdAll(app.dataSource);
      await expect(late.read({ sql: 'SELECT 1 AS one', params: [] })).rejects.toMatchObject({
        code: 'database_unavailable',
      });
      for (const holder of holders) await holder.release();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(removed).toBe(0);
    });

    it('a refresh uses a prepared statement and continues to work if a pooler loses prepared statements', async () => {
      const ownDatabase = await createDatabase(name);
      const own = await TestApplication.start({ database: ownDatabase });
      const pair = await own.auth.refresh((await own.login()).refresh_token);
      expect((await preparedOn(own.dataSource)).filter(({ text }) => text.startsWith('WITH changed'))).not.toHaveLength(
        0,
      );
      await onEachConnection(own.dataSource, 'DEALLOCATE ALL');
      const next = await own.auth.refresh(pair.refreshToken);
      await own.get('/me', next.accessToken).expect(200);
      await own.close();
      await ownDatabase.drop();
    });
  }
});

/** Sends a prepared statement in autocommit mode. */
function sendOn(connections: DriverConnections, sql: string, params: unknown[] = []): Promise<Result> {
  const query = { sql, params, isPrepared: true };
  return raceWithDeadline(1_000, (deadline) =>
    connections.use(deadline, (send) =>
      send(query, () => autocommitParams(query, deadline.remainingMs, new ServerClock())),
    ),
  );
}

/** The errors of a proxy without prepared statements and of a server with too many prepared statements. */
describe.each([1295, 1461])('prepared reads that MySQL refuses with %d', (errno) => {
  it('a refused prepared read is sent as plain text, and so are all later reads', async () => {
    const calls: string[] = [];
    const connection = {
      on: () => undefined,
      off: () => undefined,
      release: () => calls.push('release'),
      execute: (_sql: string, _params: unknown[], done: (error: Error) => void) => {
        calls.push('execute');
        done(Object.assign(new Error('no'), { errno }));
      },
      query: (_sql: string, _params: unknown[], done: (error: null, rows: object[]) => void) => {
        calls.push('query');
        done(null, [{ one: 1 }]);
      },
    };
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const driver = { obtainMasterConnection: () => Promise.resolve(connection) };
    const connections = new DriverConnections(driver as never, 'mysql', true);
    const ask = (): Promise<Result> => sendOn(connections, 'SELECT 1 AS one');
    const result = { rows: [{ one: 1 }], affected: 0 };
    expect([await ask(), await ask()]).toEqual([result, result]);
    expect(calls).toEqual(['execute', 'query', 'release', 'query', 'release']);
  });
});

describe('statements in autocommit mode', () => {
  it('the timeout of a statement that waited for a connection is 90 % of the remaining time', async () => {
    jest.useFakeTimers();
    const sent: unknown[] = [];
    const connection = {
      on: () => undefined,
      off: () => undefined,
      release: () => undefined,
      query({ values }: { values: unknown[] }) {
        sent.push(...values);
        return Promise.resolve({ rows: [], rowCount: 0 });
      },
    };
    let lend!: (connection: object) => void;
    const driver = { obtainMasterConnection: () => new Promise((resolve) => (lend = resolve)) };
    const done = sendOn(new DriverConnections(driver as never, 'postgres', true), 'SELECT $1', [REMAINING_MS]);
    jest.advanceTimersByTime(800);
    lend(connection);
    await done;
    jest.useRealTimers();
    expect(sent).toEqual([180]);
  });
});

type Holder = ReturnType<DataSource['createQueryRunner']>;

/** Takes all connections of the pool, which has ten connections by default. */
async function holdAll(dataSource: DataSource): Promise<Holder[]> {
  const holders = Array.from({ length: 10 }, () => dataSource.createQueryRunner());
  for (const holder of holders) await holder.connect();
  return holders;
}

async function onEachConnection(dataSource: DataSource, sql: string): Promise<unknown[]> {
  const holders = await holdAll(dataSource);
  const results = await Promise.all(holders.map((holder) => holder.query(sql)));
  for (const holder of holders) await holder.release();
  return results;
}

async function preparedOn(dataSource: DataSource): Promise<{ name: string; text: string }[]> {
  const sql = "SELECT name, statement AS text FROM pg_prepared_statements WHERE name LIKE 'auth%'";
  return (await onEachConnection(dataSource, sql)).flat() as { name: string; text: string }[];
}
