import type { DataSource } from 'typeorm';
import { type DatabaseName, type Dialect, DIALECTS } from '../support/databases';
import type { Call, Hook } from '../support/tap';

/** A fault of one statement, and the required outcome of the operation. */
export interface Fault {
  readonly name: string;
  readonly on: readonly Dialect[];
  /**
   * `works`: the operation succeeds. `works before COMMIT`: the operation succeeds, but if the fault is at the
   * COMMIT, only repeatable operations succeed. `fails`: the operation fails with 503.
   */
  readonly outcome: 'works' | 'works before COMMIT' | 'fails';
  /** Whether all later statements fail too. */
  readonly lasting?: boolean;
  readonly before?: (tools: Tools) => void | Promise<void>;
  readonly after?: (tools: Tools) => void | Promise<void>;
}

export interface Tools {
  readonly name: DatabaseName;
  readonly observer: DataSource;
  /** A promise that never resolves, but rejects at the end of the test. */
  readonly hanging: Promise<never>;
}

const ALL: readonly Dialect[] = ['sqlite', 'postgres', 'mysql'];
const POOLED: readonly Dialect[] = ['postgres', 'mysql'];

const fail = (): never => {
  throw new Error('out of order');
};

/** Throws the driver's error for a transaction that the database rolls back because of a conflict. */
const deadlock = ({ name }: Tools): never => {
  if (name === 'sqlite') throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
  if (DIALECTS[name] === 'postgres') throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
  throw Object.assign(new Error('Deadlock found'), { code: 'ER_LOCK_DEADLOCK', errno: 1213 });
};

/** Closes every other connection to the database, as a restart of the server does. */
async function cutConnections({ name, observer }: Tools): Promise<void> {
  if (DIALECTS[name] === 'postgres') {
    await observer.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    return;
  }
  const others: { id: number }[] = await observer.query(
    'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
  );
  for (const { id } of others) await observer.query(`KILL ${id}`).catch(() => undefined);
}

const FAULTS: readonly Fault[] = [
  { name: 'fails', on: ALL, outcome: 'fails', before: fail },
  { name: 'is executed and its result is lost', on: ALL, outcome: 'fails', after: fail },
  { name: 'conflicts once with another transaction', on: ALL, outcome: 'works', before: deadlock },
  { name: 'conflicts each time with another transaction', on: ALL, outcome: 'fails', lasting: true, before: deadlock },
  { name: 'finds its connection cut', on: POOLED, outcome: 'works before COMMIT', before: cutConnections },
  {
    name: 'is executed before its connection is cut',
    on: POOLED,
    outcome: 'works before COMMIT',
    after: cutConnections,
  },
  { name: 'hangs', on: POOLED, outcome: 'fails', lasting: true, before: ({ hanging }) => hanging },
];

/** Returns the faults of a database. */
export const faultsOn = (name: DatabaseName): Fault[] => FAULTS.filter(({ on }) => on.includes(DIALECTS[name]));

/** Injects the fault into the n-th statement from now on. */
export class FaultHook implements Hook {
  private calls = 0;
  /** The statement that failed, or null. */
  struck: string | null = null;

  constructor(
    private readonly fault: Fault,
    private readonly at: number,
    private readonly tools: Tools,
  ) {}

  before(call: Call): void | Promise<void> {
    if (call.kind !== 'statement' || call.sql === 'ROLLBACK') return;
    this.calls++;
    if (!this.strikes()) return;
    this.struck ??= call.sql;
    return this.fault.before?.(this.tools);
  }

  after(call: Call): void | Promise<void> {
    if (call.kind !== 'statement' || call.sql === 'ROLLBACK' || !this.strikes()) return;
    return this.fault.after?.(this.tools);
  }

  private strikes(): boolean {
    return this.calls === this.at || (this.fault.lasting === true && this.calls > this.at);
  }
}
