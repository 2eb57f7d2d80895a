import { Database } from '../../libs/auth/src/store/database/database';
import { runIn, JoinedTransaction } from '../../libs/auth/src/store/database/joined-transaction';
import { affectedBy, RolledBack, type Step, type Transaction } from '../../libs/auth/src/store/database/transaction';
import { createDatabase, DATABASES, describeEachPooled, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

const insert = (userId: string): string =>
  `INSERT INTO auth_user_locks (user_id, credentials_version, lock_count) VALUES ('${userId}', 0, 0)`;

describe.each(DATABASES)('a transaction that returns RolledBack on %s', (name) => {
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
  beforeEach(() => host.dataSource.query('DELETE FROM auth_user_locks'));

  function* refuse(userId: string): Transaction<RolledBack<string>> {
    yield* affectedBy({ sql: insert(userId), params: [] });
    return new RolledBack('refused');
  }

  const stored = async (): Promise<string[]> => {
    const rows: { user_id: string }[] = await host.dataSource.query('SELECT user_id FROM auth_user_locks');
    return rows.map((row) => row.user_id);
  };

  it('has its outcome and leaves nothing, and its connection can be used again', async () => {
    const running = host.app.get(Database);
    for (let i = 0; i < 20; i++) expect(await running.transaction(() => refuse('refused'))).toBe('refused');
    expect(await stored()).toEqual([]);
  });

  it("undoes nothing else of the application's transaction that it is part of", async () => {
    await host.dataSource.transaction(async (manager) => {
      await manager.query(insert('before'));
      const joined = new JoinedTransaction(manager.queryRunner!);
      const outcome = await runIn(joined, () => host.app.get(Database).transaction(() => refuse('refused')));
      expect(outcome).toBe('refused');
      await manager.query(insert('after'));
    });
    expect((await stored()).sort()).toEqual(['after', 'before']);
  });
});

/** SQLite waits for another writer until the deadline, and has no connection to lose. */
describeEachPooled('a transaction that is rolled back on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database, users: [] });
    Object.assign(host.app.get(Database), { logger: { error: () => undefined }, pause: () => Promise.resolve() });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  /** A serialization failure on PostgreSQL, a deadlock on MariaDB; Galera reports a failed certification as the latter. */
  const conflict =
    name === 'postgres'
      ? "DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$"
      : "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'conflict'";

  function* raiseConflict(): Step<void> {
    yield { sql: conflict, params: [] };
  }

  function* takeTheSameKeyTwice(): Step<void> {
    for (let i = 0; i < 2; i++) yield { sql: insert('taken'), params: [] };
  }

  // eslint-disable-next-line require-yield -- fails instead of being answered
  function* loseTheConnection(): Step<void> {
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  }

  /** Runs a transaction that fails so many times; how often it was run, and whether it succeeded. */
  async function runsOf(failingTimes: number, fail: () => Step<void>): Promise<{ runs: number; outcome: unknown }> {
    let runs = 0;
    const outcome: unknown = await host.app
      .get(Database)
      .transaction(function* () {
        if (runs++ < failingTimes) yield* fail();
        return 'done';
      })
      .catch((error: unknown) => error);
    return { runs, outcome };
  }

  it.each([
    { what: 'conflicts with others', fail: raiseConflict, mostRuns: 6, kind: 'rolled_back' },
    { what: 'finds its new key taken', fail: takeTheSameKeyTwice, mostRuns: 3, kind: 'rolled_back' },
    { what: 'loses its connection', fail: loseTheConnection, mostRuns: 3, kind: 'connection_lost' },
  ])('and $what is run $mostRuns times in all, and then answered with 503', async ({ fail, mostRuns, kind }) => {
    expect(await runsOf(mostRuns - 1, fail)).toEqual({ runs: mostRuns, outcome: 'done' });
    const { runs, outcome } = await runsOf(Infinity, fail);
    expect(runs).toBe(mostRuns);
    expect(outcome).toMatchObject({ code: 'database_unavailable', kind });
  });
});
