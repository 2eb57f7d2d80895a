import type { Call } from '../support/tap';

/** Changes a statement if it matches, and returns whether the statement was changed. */
export type Mutation = (call: Call) => boolean;

/** Returns a mutation that replaces a part of each statement that matches `begins`. Parameters keep their positions. */
export function replace(begins: RegExp, part: RegExp, by: string | ((found: string) => string)): Mutation {
  return (call) => {
    if (!begins.test(call.sql) || !part.test(call.sql)) return false;
    call.sql = call.sql.replace(part, by as string);
    return true;
  };
}

export const allOf =
  (...mutations: Mutation[]): Mutation =>
  (call) =>
    mutations.map((way) => way(call)).some(Boolean);

const PARAMETER = String.raw`(\$\d+|\?)`;
const orAlwaysTrue = (condition: string): string => `(${condition} OR 1 = 1)`;

/** Makes the comparison of a column with a parameter in a condition always true. */
export const withoutComparison = (statement: RegExp, column: string, after = ''): Mutation => {
  const comparison = String.raw`(?<=\bWHERE\b.*)(s\.)?.\b${column}. = ${PARAMETER}${after}`;
  return replace(statement, new RegExp(comparison, 's'), orAlwaysTrue);
};

/** Makes the requirement that the session is active always true. */
export const withoutState = (update: RegExp): Mutation => replace(update, /(s\.)?.state. = 'active'/, '1 = 1');

/** Makes the part of an update's condition that follows the state always true. */
export const withoutLastCondition = (update: RegExp): Mutation =>
  replace(update, /(?<=.state. = 'active'\s+AND ).+$/s, orAlwaysTrue);

/** Makes everything that follows the first condition of a statement always true. */
export const withoutFurtherConditions = (statement: RegExp): Mutation =>
  replace(statement, /(?<= AND ).+$/s, orAlwaysTrue);

/** Lets a statement change no row. */
export const withoutEffect = (statement: RegExp): Mutation => replace(statement, /$/, ' AND 1 = 0');

/**
 * Returns a pattern for an UPDATE of one session that sets the given column first. On PostgreSQL, the UPDATE is
 * part of a statement that also inserts the event.
 */
const updateOf = (column: string): RegExp =>
  new RegExp(String.raw`^(WITH changed AS \()?UPDATE .auth_sessions.( AS s)? SET .${column}. =`);

export const ROTATION = updateOf('refresh_digest');
export const REPLAY = updateOf('replay_count');
export const REISSUE = updateOf('access_digest');
export const FIRST_USE = updateOf('first_used_at');
export const PROOF = updateOf('methods');
export const END = updateOf('state');

/** Removes the lock of a user: the statement inserts the row of `auth_user_locks`, but does not change it. */
export const removeUserLock = allOf(
  replace(/^INSERT INTO .auth_user_locks/, /DO UPDATE SET.*$/s, 'DO NOTHING'),
  (call) => {
    if (!/^INSERT INTO .auth_user_locks.*ON DUPLICATE KEY/s.test(call.sql)) return false;
    call.sql = call.sql.replace('INSERT INTO', 'INSERT IGNORE INTO').replace(/ON DUPLICATE KEY.*$/s, '');
    return true;
  },
);

/** Keeps the version of a user's credentials where it would change. */
export const keepCredentialsVersion = replace(
  /^UPDATE .auth_user_locks/,
  new RegExp(String.raw`\+ ${PARAMETER}`),
  (found) => found.replace('+', '+ 0 *'),
);

/**
 * Removes every `FOR UPDATE`, with or without `SKIP LOCKED`. This simulates databases whose nodes do not share
 * such locks, or do not hold them until the end of the transaction.
 */
export const removeRowLocks = replace(/FOR UPDATE/, /FOR UPDATE( SKIP LOCKED)?/, '');
