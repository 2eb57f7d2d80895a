import type { Call } from '../support/tap';

/** Changes a statement; returns whether it did. */
export type Mutation = (call: Call) => boolean;

/** Replaces part of the statements that begin so. The parameters keep their places. */
export function replace(begins: RegExp, part: RegExp, by: string | ((found: string) => string)): Mutation {
  return (call) => {
    if (!begins.test(call.sql) || !part.test(call.sql)) return false;
    call.sql = call.sql.replace(part, by as string);
    return true;
  };
}

export const either =
  (...ways: Mutation[]): Mutation =>
  (call) =>
    ways.map((way) => way(call)).some(Boolean);

export const always = (condition: string): string => `(${condition} OR 1 = 1)`;
export const parameter = String.raw`(\$\d+|\?)`;

/** An UPDATE of one session that a guard condition decides, on PostgreSQL as part of one statement with its event. */
const updateOf = (column: string): RegExp =>
  new RegExp(String.raw`^(WITH changed AS \()?UPDATE .auth_sessions.( AS s)? SET .${column}. =`);

export const ROTATION = updateOf('refresh_digest');
export const REPLAY = updateOf('replay_count');
export const REISSUE = updateOf('access_digest');
export const FIRST_USE = updateOf('first_used_at');
export const END = updateOf('state');
export const RESCHEDULE = updateOf('check_at');
export const TAKE_SLOT = updateOf('attempt_pending_until');
export const WRITE_STREAK = updateOf('failure_count');

/** Takes out the user's lock, which is a row that the transaction changes. */
export const takeOutUserLock = either(
  replace(/^INSERT INTO .auth_user_locks/, /DO UPDATE SET.*$/s, 'DO NOTHING'),
  (call) => {
    if (!/^INSERT INTO .auth_user_locks.*ON DUPLICATE KEY/s.test(call.sql)) return false;
    call.sql = call.sql.replace('INSERT INTO', 'INSERT IGNORE INTO').replace(/ON DUPLICATE KEY.*$/s, '');
    return true;
  },
);

/**
 * Takes out every lock of rows that are only read: `FOR UPDATE` with or without `SKIP LOCKED`. Databases whose nodes do not
 * share such locks, or do not keep them until the end of the transaction, are like that.
 */
export const takeOutRowLocks = replace(/FOR UPDATE/, /FOR UPDATE( SKIP LOCKED)?/, '');
