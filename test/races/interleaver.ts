import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { TestDatabase } from '../support/databases';
import { pending, type Hook } from '../support/tap';

const POLL_MS = 2;

/** Whether the current call belongs to the held operation. Both operations can run in the same instance. */
const isOfHeld = new AsyncLocalStorage<true>();

/**
 * Matches statements that only begin a transaction or change a setting of the connection. Under READ COMMITTED,
 * the database takes no snapshot for such a statement. Holding an operation before such a statement is therefore
 * the same as holding the operation before the next statement.
 */
const WITHOUT_EFFECT = /^(BEGIN|START TRANSACTION|SET)\b/;

/** The outcome of one operation: its result, or the code of its error. */
export type Settled<T> =
  { readonly value: T; readonly code?: undefined } | { readonly value?: undefined; readonly code: string };

/** Thrown by a race if the operation that is to be held makes fewer calls. */
export class NoSuchCall extends Error {}

/**
 * Holds the first operation before one of its calls, runs the second until it is done or waits for a lock, and
 * then releases the first.
 */
export class Interleaver {
  private constructor(
    private readonly observer: DataSource | null,
    private readonly setHook: (hook: Hook) => void,
  ) {}

  static async create(database: TestDatabase, setHook: (hook: Hook) => void): Promise<Interleaver> {
    const observer = database.name === 'sqlite' ? null : await new DataSource(database.options).initialize();
    return new Interleaver(observer, setHook);
  }

  /**
   * @param stopAt the number of the call that has an effect, before which the first operation is held
   * @param between called when the second operation is done or waits for a lock, while the first is held
   */
  async run<A, B, C>(
    stopAt: number,
    first: () => Promise<A>,
    second: () => Promise<B>,
    between: () => Promise<C>,
  ): Promise<[Settled<A>, Settled<B>, C]> {
    const [reached, released] = [pending(), pending()];
    const stopKind = this.observer ? 'statement' : 'transaction';
    let calls = 0;
    const before: Hook['before'] = ({ kind, sql }) => {
      if (kind !== stopKind || WITHOUT_EFFECT.test(sql) || !isOfHeld.getStore() || ++calls !== stopAt) return;
      reached.resolve();
      return released.promise;
    };
    this.setHook({ before });
    try {
      const held = settle(isOfHeld.run(true, first));
      if (!(await Promise.race([reached.promise.then(() => true), held.then(() => false)]))) throw new NoSuchCall();
      const other = settle(second());
      await this.doneOrWaiting(other);
      const seen = await between();
      released.resolve();
      await Promise.allSettled([held, other]);
      return [await held, await other, seen];
    } finally {
      released.resolve();
      this.setHook({});
    }
  }

  async close(): Promise<void> {
    await this.observer?.destroy();
  }

  /** Polls until the work is done or the database reports that a transaction waits for a lock. */
  private async doneOrWaiting(work: Promise<unknown>): Promise<void> {
    let done = false;
    const settled = work.catch(() => undefined).then(() => (done = true));
    // Leaves processor time for the work between two polls.
    while (!done && !(await this.isAnyWaiting())) await Promise.race([settled, sleep(POLL_MS)]);
  }

  private async isAnyWaiting(): Promise<boolean> {
    const { observer } = this;
    if (observer?.options.type !== 'postgres') return observer !== null && isAnyWaitingOnMariadb(observer);
    const waiting = "datname = current_database() AND wait_event_type = 'Lock'";
    return (await observer.query<unknown[]>(`SELECT 1 FROM pg_stat_activity WHERE ${waiting}`)).length > 0;
  }
}

/**
 * Reads the InnoDB monitor, because `information_schema.innodb_trx` is a snapshot that is renewed only after 0.1 s
 * without a read. The monitor includes all databases of the server, so the connections are filtered by database.
 */
async function isAnyWaitingOnMariadb(observer: DataSource): Promise<boolean> {
  const [monitor]: { Status: string }[] = await observer.query('SHOW ENGINE INNODB STATUS');
  const waiting = monitor!.Status.split('---TRANSACTION ')
    .filter((transaction) => /^LOCK WAIT/m.test(transaction))
    .map((transaction) => Number(/^(?:MariaDB|MySQL) thread id (\d+)/m.exec(transaction)?.[1]));
  if (waiting.length === 0) return false;
  const own: { id: number | string }[] = await observer.query(
    'SELECT id FROM information_schema.processlist WHERE db = DATABASE()',
  );
  return own.some(({ id }) => waiting.includes(Number(id)));
}

async function settle<T>(work: Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await work };
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (typeof code !== 'string') throw error;
    return { code };
  }
}
