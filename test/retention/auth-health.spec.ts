import type { Database } from '../../libs/auth/src/database/database';
import type { StatementFactory } from '../../libs/auth/src/database/statements';
import { AuthHealth } from '../../libs/auth/src/retention/health';
import type { SessionSql } from '../../libs/auth/src/sessions/session';
import type { PruningService } from '../../libs/auth/src/retention/pruning.service';

/** A database that responds when the test calls `answer`. */
class HeldDatabase {
  readonly dialect = 'sqlite';
  reads = 0;
  answer = (): void => undefined;

  run(): Promise<object> {
    this.reads++;
    return new Promise((resolve) => (this.answer = () => resolve({ rows: [{}], affected: 0 })));
  }
}

const statements = { statement: () => ({ with: () => ({}) }) } as unknown as StatementFactory;
const sql = { account: 'NULL' } as SessionSql;
const pruning = { lastRuns: { succeededAt: null, failedAt: null } } as PruningService;

const healthOf = (database: HeldDatabase): AuthHealth =>
  new AuthHealth(database as unknown as Database, statements, sql, pruning);

describe('AuthHealth', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('reports down if the database takes longer than two seconds, and up when it responds again', async () => {
    const database = new HeldDatabase();
    const health = healthOf(database);
    const first = health.check();
    await jest.advanceTimersByTimeAsync(1_999);
    const second = health.check();
    await jest.advanceTimersByTimeAsync(1);
    expect(await first).toMatchObject({ status: 'down', database: 'down', reason: 'timeout' });
    database.answer();
    expect(await second).toMatchObject({ status: 'up' });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not send a second probe while the database has not responded to the first', async () => {
    const database = new HeldDatabase();
    const health = healthOf(database);
    const checks = [health.check(), health.check()];
    await jest.advanceTimersByTimeAsync(2_000);
    await Promise.all([...checks]);
    checks.push(health.check());
    expect(database.reads).toBe(1);
    database.answer();
    expect((await checks[2])!.status).toBe('up');
    const next = health.check();
    expect(database.reads).toBe(2);
    database.answer();
    await next;
  });
});
