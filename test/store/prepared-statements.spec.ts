import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { PooledDatabase } from '../../libs/auth/src/store/database/pooled-database';
import { raceWithDeadline } from '../../libs/auth/src/store/database/deadline';
import { DriverConnections } from '../../libs/auth/src/store/database/driver-connections';
import { ServerClock } from '../../libs/auth/src/store/database/server-clock';
import { autocommitParams, REMAINING_MS, type Result } from '../../libs/auth/src/store/database/transaction';
import { createDatabase, describeEachPooled, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

describeEachPooled("the guard's prepared read on %s", (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  it('continues when a migration changes a column that it reads', async () => {
    const { access_token: token } = await host.login();
    await host.get('/me', token).expect(200);
    const change =
      name === 'postgres' ? 'ALTER COLUMN device_name TYPE varchar(80)' : 'MODIFY device_name varchar(80) NOT NULL';
    await host.dataSource.query(`ALTER TABLE auth_sessions ${change}`);
    for (let i = 0; i < 5; i++) await host.get('/me', token).expect(200);
  });

  if (name === 'postgres') {
    it('has a name that no other statement has, since others may share the connection behind a pooler', async () => {
      const { access_token: token } = await host.login();
      await host.get('/me', token).expect(200);
      const known = await preparedOn(host.dataSource);
      expect(known.length).toBeGreaterThan(0);
      for (const { name: statement, text } of known) {
        expect(statement).toBe(`auth_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`);
      }
    });

    it('continues without a name where a pooler loses names', async () => {
      const { access_token: token } = await host.login();
      await host.get('/me', token).expect(200);
      // As behind a pooler that lends each transaction another connection.
      await onEachConnection(host.dataSource, 'DEALLOCATE ALL');
      for (let i = 0; i < 3; i++) await host.get('/me', token).expect(200);
      expect(host.logs.filter((line) => line.includes('namedStatements'))).toHaveLength(1);
    });

    it('releases a connection that it was lent too late, and breaks none', async () => {
      const { master } = host.dataSource.driver as unknown as {
        master: { on(event: string, listener: () => void): void };
      };
      let removed = 0;
      master.on('remove', () => removed++);
      const late = new PooledDatabase(host.dataSource, 'postgres');
      Object.assign(late, { answerWithinMs: 20 });
      const holders = await holdAll(host.dataSource);
      await expect(late.read({ sql: 'SELECT 1 AS one', params: [] })).rejects.toMatchObject({
        code: 'database_unavailable',
      });
      for (const holder of holders) await holder.release();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(removed).toBe(0);
    });

    it('is not the only prepared statement: a refresh is one, and continues where a pooler loses names', async () => {
      const its = await createDatabase(name);
      const own = await Host.start({ database: its });
      const pair = await own.auth.refresh((await own.login()).refresh_token);
      expect((await preparedOn(own.dataSource)).filter(({ text }) => text.startsWith('WITH changed'))).not.toHaveLength(
        0,
      );
      await onEachConnection(own.dataSource, 'DEALLOCATE ALL');
      const next = await own.auth.refresh(pair.refreshToken);
      await own.get('/me', next.accessToken).expect(200);
      await own.close();
      await its.drop();
    });
  }
});

/** Sends a prepared statement that commits itself. */
function sendOn(connections: DriverConnections, sql: string, params: unknown[] = []): Promise<Result> {
  const query = { sql, params, isPrepared: true };
  return raceWithDeadline(1_000, (deadline) =>
    connections.use(deadline, (now) =>
      now(query, () => autocommitParams(query, deadline.remainingMs, new ServerClock())),
    ),
  );
}

/** The errors of a proxy without prepared statements, and of a server on which there are too many. */
describe.each([1295, 1461])('a prepared read that MySQL refuses with %d', (errno) => {
  it('is sent as plain text, from then on as well', async () => {
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

describe('a statement that commits itself', () => {
  it('gets the time that is left when it is sent, however long it waited for a connection', async () => {
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

/** All connections of the pool, which has ten by default. */
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
