import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { PooledDatabase } from '../../libs/auth/src/store/sql/pooled-database';
import { within } from '../../libs/auth/src/store/sql/deadline';
import { PreparedStatements } from '../../libs/auth/src/store/sql/prepared-statements';
import { TIME_LEFT } from '../../libs/auth/src/store/sql/unit';
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

  it('goes on when a migration changes what it reads', async () => {
    const { access_token: token } = await host.login();
    await host.get('/me', token).expect(200);
    const change =
      name === 'postgres' ? 'ALTER COLUMN device_name TYPE varchar(80)' : 'MODIFY device_name varchar(80) NOT NULL';
    await host.dataSource.query(`ALTER TABLE auth_sessions ${change}`);
    for (let i = 0; i < 5; i++) await host.get('/me', token).expect(200);
  });

  if (name === 'postgres') {
    it('has a name that no other statement has, for others may share the connection behind a pooler', async () => {
      const { access_token: token } = await host.login();
      await host.get('/me', token).expect(200);
      const known = await preparedOn(host.dataSource);
      expect(known.length).toBeGreaterThan(0);
      for (const { name: statement, text } of known) {
        expect(statement).toBe(`auth_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`);
      }
    });

    it('goes on without a name where names get lost on the way', async () => {
      const { access_token: token } = await host.login();
      await host.get('/me', token).expect(200);
      // As a pooler does that gives each transaction another connection.
      await onEachConnection(host.dataSource, 'DEALLOCATE ALL');
      for (let i = 0; i < 3; i++) await host.get('/me', token).expect(200);
      expect(host.logs.filter((line) => line.includes('namedStatements'))).toHaveLength(1);
    });

    it('gives a connection back that it got too late, and breaks none', async () => {
      const { master } = host.dataSource.driver as unknown as {
        master: { on(event: string, listener: () => void): void };
      };
      let removed = 0;
      master.on('remove', () => removed++);
      const late = new PooledDatabase(host.dataSource, 'postgres');
      Object.assign(late, { answerWithinMs: 20 });
      const holders = await holdAll(host.dataSource);
      await expect(late.lookUp({ sql: 'SELECT 1 AS one', params: [] })).rejects.toMatchObject({
        code: 'database_unavailable',
      });
      for (const holder of holders) await holder.release();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(removed).toBe(0);
    });

    it('is not all that is prepared: so is a refresh, which goes on where names get lost on the way', async () => {
      const its = await createDatabase(name);
      const own = await Host.start({ database: its });
      const pair = await own.auth.refresh((await own.login()).refresh_token);
      expect((await preparedOn(own.dataSource)).filter(({ text }) => text.startsWith('WITH won'))).not.toHaveLength(0);
      await onEachConnection(own.dataSource, 'DEALLOCATE ALL');
      const next = await own.auth.refresh(pair.refreshToken);
      await own.get('/me', next.accessToken).expect(200);
      await own.close();
      await its.drop();
    });
  }
});

/** As a proxy answers that knows of no prepared statements, or a server on which too many are. */
describe.each([1295, 1461])('a prepared read that MySQL refuses with %d', (errno) => {
  it('is asked plainly, from then on as well', async () => {
    const asked: string[] = [];
    const connection = {
      on: () => undefined,
      off: () => undefined,
      release: () => asked.push('release'),
      execute: (_sql: string, _params: unknown[], done: (error: Error) => void) => {
        asked.push('execute');
        done(Object.assign(new Error('no'), { errno }));
      },
      query: (_sql: string, _params: unknown[], done: (error: null, rows: object[]) => void) => {
        asked.push('query');
        done(null, [{ one: 1 }]);
      },
    };
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const driver = { obtainMasterConnection: () => Promise.resolve(connection) };
    const statements = new PreparedStatements(driver as never, 'mysql', true);
    const ask = (): Promise<unknown> =>
      within(1_000, (deadline) => statements.run({ sql: 'SELECT 1 AS one', params: [] }, deadline));
    const answer = { rows: [{ one: 1 }], affected: 0 };
    expect([await ask(), await ask()]).toEqual([answer, answer]);
    expect(asked).toEqual(['execute', 'query', 'release', 'query', 'release']);
  });
});

describe('a write that is its own COMMIT', () => {
  it('is told what time is left when it is sent, whatever it has waited for a connection', async () => {
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
    let give!: (connection: object) => void;
    const driver = { obtainMasterConnection: () => new Promise((resolve) => (give = resolve)) };
    const statements = new PreparedStatements(driver as never, 'postgres', true);
    const done = within(1_000, (deadline) => statements.run({ sql: 'SELECT $1', params: [TIME_LEFT] }, deadline));
    jest.advanceTimersByTime(800);
    give(connection);
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
  const answers = await Promise.all(holders.map((holder) => holder.query(sql)));
  for (const holder of holders) await holder.release();
  return answers;
}

async function preparedOn(dataSource: DataSource): Promise<{ name: string; text: string }[]> {
  const sql = "SELECT name, statement AS text FROM pg_prepared_statements WHERE name LIKE 'auth%'";
  return (await onEachConnection(dataSource, sql)).flat() as { name: string; text: string }[];
}
