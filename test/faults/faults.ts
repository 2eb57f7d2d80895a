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
export const deadlock = ({ name }: Pick<Tools, 'name'>): never => {
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

/** Returns a hook that injects the fault into the n-th statement from now on. `struck` is that statement. */
export function faultAt(at: number, fault: Fault, tools: Tools): Hook & { struck: string | null } {
  let statements = 0;
  const isCounted = ({ kind, sql }: Call): boolean => kind === 'statement' && sql !== 'ROLLBACK';
  const strikes = (): boolean => statements === at || (fault.lasting === true && statements > at);
  const hook: ReturnType<typeof faultAt> = {
    struck: null,
    before(call) {
      if (!isCounted(call)) return;
      statements++;
      if (!strikes()) return;
      hook.struck ??= call.sql;
      return fault.before?.(tools);
    },
    after: (call) => (isCounted(call) && strikes() ? fault.after?.(tools) : undefined),
  };
  return hook;
}
