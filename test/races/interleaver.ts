import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { TestDatabase } from '../support/databases';
import type { Call, Hook } from '../support/tap';

const POLL_MS = 2;

/** The operation that makes the current call. Both operations can run in the same instance. */
const actor = new AsyncLocalStorage<'first' | 'second'>();

/**
 * Matches statements that only begin a transaction or change a setting of the connection. Under READ COMMITTED,
 * the database takes no snapshot for such a statement. Holding an operation before such a statement is therefore
 * the same as holding the operation before the next statement.
 */
const WITHOUT_EFFECT = /^(BEGIN|START TRANSACTION|SET)\b/;

/** Holds the first operation before its n-th call that has an effect, until `release` is called. */
class Breakpoint implements Hook {
  readonly reached: Promise<void>;
  private readonly released: Promise<void>;
  private reach!: () => void;
  release!: () => void;
  private calls = 0;

  constructor(
    private readonly stopAt: number,
    private readonly kind: Call['kind'],
  ) {
    this.reached = new Promise((resolve) => (this.reach = resolve));
    this.released = new Promise((resolve) => (this.release = resolve));
  }

  before(call: Call): void | Promise<void> {
    if (call.kind !== this.kind || WITHOUT_EFFECT.test(call.sql) || actor.getStore() !== 'first') return;
    if (++this.calls !== this.stopAt) return;
    this.reach();
    return this.released;
  }
}

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

  /** @param between called when the second operation is done or waits for a lock, while the first is held */
  async run<A, B, C>(
    stopAt: number,
    first: () => Promise<A>,
    second: () => Promise<B>,
    between: () => Promise<C>,
  ): Promise<[Settled<A>, Settled<B>, C]> {
    const breakpoint = new Breakpoint(stopAt, this.observer ? 'statement' : 'transaction');
    this.setHook(breakpoint);
    try {
      const held = actor.run('first', first);
      const isHeld = await Promise.race([
        breakpoint.reached.then(() => true),
        held.then(
          () => false,
          () => false,
        ),
      ]);
      if (!isHeld) {
        await settle(held);
        throw new NoSuchCall();
      }
      const other = actor.run('second', second);
      await this.doneOrWaiting(other);
      const seen = await between();
      breakpoint.release();
      await Promise.allSettled([held, other]);
      return [await settle(held), await settle(other), seen];
    } finally {
      breakpoint.release();
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
    if (!this.observer) return false;
    return this.observer.options.type === 'postgres'
      ? isAnyWaitingOnPostgres(this.observer)
      : isAnyWaitingOnMariadb(this.observer);
  }
}

async function isAnyWaitingOnPostgres(observer: DataSource): Promise<boolean> {
  const waiting: unknown[] = await observer.query(
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return waiting.length > 0;
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
