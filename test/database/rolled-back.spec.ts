import { setTimeout } from 'node:timers/promises';
import { Database } from '../../libs/auth/src/database/database';
import { JoinedTransaction } from '../../libs/auth/src/database/joined-transaction';
import { affectedBy, RolledBack, type Step, type Transaction } from '../../libs/auth/src/database/transaction';
import { createDatabase, describeEachPooled, DIALECTS, type TestDatabase } from '../support/databases';
import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';
import { TestApplication } from '../support/test-application';

const insert = (userId: string): string =>
  `INSERT INTO auth_user_locks (user_id, credentials_version, lock_count) VALUES ('${userId}', 0, 0)`;

describeOnEachDatabase('RolledBack', {}, (env: TestEnvironment) => {
  beforeEach(() => env.app.dataSource.query('DELETE FROM auth_user_locks'));

  function* refuse(userId: string): Transaction<RolledBack<string>> {
    yield* affectedBy({ sql: insert(userId), params: [] });
    return new RolledBack('refused');
  }

  const stored = async (): Promise<string[]> => {
    const rows: { user_id: string }[] = await env.app.dataSource.query('SELECT user_id FROM auth_user_locks');
    return rows.map((row) => row.user_id);
  };

  it('a transaction that returns RolledBack returns the outcome in it, changes nothing and leaves the connection usable', async () => {
    const running = env.app.nest.get(Database);
    for (let i = 0; i < 20; i++) expect(await running.transaction(null, () => refuse('refused'))).toBe('refused');
    expect(await stored()).toEqual([]);
  });

  it("RolledBack does not undo other changes of the application's transaction", async () => {
    await env.app.dataSource.transaction(async (manager) => {
      await manager.query(insert('before'));
      const joined = new JoinedTransaction(manager.queryRunner!);
      const outcome = await env.app.nest.get(Database).transaction(joined, () => refuse('refused'));
      expect(outcome).toBe('refused');
      await manager.query(insert('after'));
    });
    expect((await stored()).sort()).toEqual(['after', 'before']);
  });
});

/** Skipped on SQLite, where the library waits for other writers until the deadline and has no network connection. */
describeEachPooled('transactions that the database rolls back on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database, users: [] });
    Object.assign(app.nest.get(Database), { logger: { error: () => undefined }, pause: () => Promise.resolve() });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  /** Raises SQLSTATE 40001 on PostgreSQL, and a deadlock on MariaDB. Galera reports conflicts as deadlocks. */
  const conflict =
    DIALECTS[name] === 'postgres'
      ? "DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$"
      : "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'conflict'";

  function* raiseConflict(): Step<void> {
    yield { sql: conflict, params: [] };
  }

  function* insertTheSameKeyTwice(): Step<void> {
    for (let i = 0; i < 2; i++) yield { sql: insert('taken'), params: [] };
  }

  // eslint-disable-next-line require-yield -- throws before its first statement
  function* loseTheConnection(): Step<void> {
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  }

  /** Runs a transaction that fails the given number of times. Returns its number of runs and its outcome. */
  async function runsOf(failingTimes: number, fail: () => Step<void>): Promise<{ runs: number; outcome: unknown }> {
    let runs = 0;
    const outcome: unknown = await app.nest
      .get(Database)
      .transaction(null, function* () {
        if (runs++ < failingTimes) yield* fail();
        return 'done';
      })
      .catch((error: unknown) => error);
    return { runs, outcome };
  }

  it.each([
    { what: 'conflicts with another transaction', fail: raiseConflict, mostRuns: 6, kind: 'rolled_back' },
    { what: 'violates a unique key', fail: insertTheSameKeyTwice, mostRuns: 3, kind: 'rolled_back' },
  ])(
    'a transaction that $what is tried $mostRuns times and then fails with database_unavailable',
    async ({ fail, mostRuns, kind }) => {
      expect(await runsOf(mostRuns - 1, fail)).toEqual({ runs: mostRuns, outcome: 'done' });
      const { runs, outcome } = await runsOf(Infinity, fail);
      expect(runs).toBe(mostRuns);
      expect(outcome).toMatchObject({ code: 'database_unavailable', kind });
    },
  );

  it('a transaction that loses its connection is tried until the deadline', async () => {
    expect((await runsOf(10, loseTheConnection)).outcome).toBe('done');
    Object.assign(app.nest.get(Database), { answerWithinMs: 1_500, pause: () => setTimeout(20) });
    const { runs, outcome } = await runsOf(Infinity, loseTheConnection);
    expect(runs).toBeGreaterThan(3);
    expect(outcome).toMatchObject({ code: 'database_unavailable', kind: 'connection_lost' });
  });
});
