import { setTimeout } from 'node:timers/promises';
import { Database } from '../../libs/auth/src/database/database';
import { JoinedTransaction } from '../../libs/auth/src/database/joined-transaction';
import { affectedBy, RolledBack, type Step, type Transaction } from '../../libs/auth/src/database/transaction';
import { DIALECTS } from '../support/databases';
import { describeOnEachDatabase, describeOnEachServer } from '../support/environment';
import { connectionLost, withDeadline } from '../support/tap';

const insert = (userId: string): string =>
  `INSERT INTO auth_user_locks (user_id, credentials_version, lock_count) VALUES ('${userId}', 0, 0)`;

describeOnEachDatabase('RolledBack', {}, ({ app }) => {
  function* refuse(): Transaction<RolledBack<string>> {
    yield* affectedBy({ sql: insert('refused'), params: [] });
    return new RolledBack('refused');
  }

  it('a transaction that returns RolledBack changes nothing, even within a transaction of the application', async () => {
    const database = app.nest.get(Database);
    for (let i = 0; i < 20; i++) expect(await database.transaction(null, refuse)).toBe('refused');
    await app.dataSource.transaction(async (manager) => {
      await manager.query(insert('before'));
      expect(await database.transaction(new JoinedTransaction(manager.queryRunner!), refuse)).toBe('refused');
      await manager.query(insert('after'));
    });
    const rows = await app.dataSource.query('SELECT user_id FROM auth_user_locks ORDER BY user_id');
    expect(rows).toEqual([{ user_id: 'after' }, { user_id: 'before' }]);
  });
});

/** Skipped on SQLite, where the library waits for other writers until the deadline and has no network connection. */
describeOnEachServer('transactions that the database rolls back', { users: [] }, ({ app, name }) => {
  const database = (): Database => app.nest.get(Database);
  beforeEach(() => {
    Object.assign(database(), { logger: { error: () => undefined }, pause: () => Promise.resolve() });
  });

  /** Raises SQLSTATE 40001 on PostgreSQL, and a deadlock on MariaDB. Galera reports conflicts as deadlocks. */
  const conflicts = {
    postgres: "DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$",
    mysql: "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'conflict'",
    sqlite: '',
  };

  function* raiseConflict(): Step<void> {
    yield { sql: conflicts[DIALECTS[name]], params: [] };
  }

  function* insertTheSameKeyTwice(): Step<void> {
    for (let i = 0; i < 2; i++) yield { sql: insert('taken'), params: [] };
  }

  // eslint-disable-next-line require-yield -- throws before its first statement
  function* loseTheConnection(): Step<void> {
    throw connectionLost();
  }

  /** Runs a transaction that fails the given number of times. Returns its number of runs and its outcome. */
  async function runsOf(failingTimes: number, fail: () => Step<void>): Promise<{ runs: number; outcome: unknown }> {
    let runs = 0;
    const running = database().transaction(null, function* () {
      if (runs++ < failingTimes) yield* fail();
      return 'done';
    });
    const outcome: unknown = await running.catch((error: unknown) => error);
    return { runs, outcome };
  }

  it.each<[string, number, () => Step<void>]>([
    ['conflicts with another transaction', 6, raiseConflict],
    ['violates a unique key', 3, insertTheSameKeyTwice],
  ])('a transaction that %s is tried %i times and then fails with database_unavailable', async (_, mostRuns, fail) => {
    expect(await runsOf(mostRuns - 1, fail)).toEqual({ runs: mostRuns, outcome: 'done' });
    const { runs, outcome } = await runsOf(Infinity, fail);
    expect(runs).toBe(mostRuns);
    expect(outcome).toMatchObject({ code: 'database_unavailable', kind: 'rolled_back' });
  });

  it('a transaction that loses its connection is tried until the deadline', async () => {
    expect((await runsOf(10, loseTheConnection)).outcome).toBe('done');
    Object.assign(database(), { pause: () => setTimeout(20) });
    const { runs, outcome } = await withDeadline(app, 500, () => runsOf(Infinity, loseTheConnection));
    expect(runs).toBeGreaterThan(3);
    expect(outcome).toMatchObject({ code: 'database_unavailable', kind: 'connection_lost' });
  });
});
