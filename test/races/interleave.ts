import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { TestDatabase } from '../support/databases';
import type { Call, Hook } from '../support/tap';

/** The side that makes a call, where both use one instance. */
const actor = new AsyncLocalStorage<'first' | 'second'>();

/** Holds the first side before its n-th call until it is released. */
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
    if (call.kind !== this.kind || actor.getStore() !== 'first' || ++this.calls !== this.stopAt) return;
    this.reach();
    return this.released;
  }
}

/** The outcome of one side: its result, or the code of its refusal. */
export type Settled<T> =
  { readonly value: T; readonly code?: undefined } | { readonly value?: undefined; readonly code: string };

export interface Interleaving<A, B> {
  readonly first: () => Promise<A>;
  readonly second: () => Promise<B>;
  /** Called when the second has got as far as it can while the first is held. */
  readonly between?: () => Promise<void>;
}

/** Holds the first before one of its calls, runs the second until it is done or waits for a lock, and releases the first. */
export class Interleaver {
  private constructor(
    private readonly observer: DataSource | null,
    private readonly setHook: (hook: Hook) => void,
  ) {}

  static async create(database: TestDatabase, setHook: (hook: Hook) => void): Promise<Interleaver> {
    const observer = database.name === 'sqlite' ? null : await new DataSource(database.options).initialize();
    return new Interleaver(observer, setHook);
  }

  /** @returns null where the first has fewer calls than that */
  async run<A, B>(
    stopAt: number,
    { first, second, between }: Interleaving<A, B>,
  ): Promise<[Settled<A>, Settled<B>] | null> {
    const breakpoint = new Breakpoint(stopAt, this.observer ? 'statement' : 'unit');
    this.setHook(breakpoint);
    const held = settle(actor.run('first', first));
    const isHeld = await Promise.race([breakpoint.reached.then(() => true), held.then(() => false)]);
    if (!isHeld) {
      this.setHook({});
      return null;
    }
    const other = settle(actor.run('second', second));
    await this.doneOrWaiting(other);
    await between?.();
    breakpoint.release();
    const outcome: [Settled<A>, Settled<B>] = [await held, await other];
    this.setHook({});
    return outcome;
  }

  async close(): Promise<void> {
    await this.observer?.destroy();
  }

  /** Polls until the work is done or the database reports that a transaction waits for a lock. */
  private async doneOrWaiting(work: Promise<unknown>): Promise<void> {
    let done = false;
    void work.then(() => (done = true));
    while (!done && !(await this.isAnyWaiting())) await new Promise((resolve) => setImmediate(resolve));
  }

  private async isAnyWaiting(): Promise<boolean> {
    if (!this.observer) return false;
    if (this.observer.options.type === 'postgres') return this.finds(WAITING_ON_POSTGRES);
    // The table of transactions is a snapshot that is renewed only after 0.1 s without a read.
    const [row] = await this.observer.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
    if (Number(row.Value) === 0) return false;
    await sleep(110);
    return this.finds(WAITING_ON_MARIADB);
  }

  private async finds(query: string): Promise<boolean> {
    const rows: unknown[] = await this.observer!.query(query);
    return rows.length > 0;
  }
}

const WAITING_ON_POSTGRES =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
const WAITING_ON_MARIADB = `SELECT 1 FROM information_schema.innodb_trx t
  JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
  WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`;

async function settle<T>(work: Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await work };
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (typeof code !== 'string') throw error;
    return { code };
  }
}
