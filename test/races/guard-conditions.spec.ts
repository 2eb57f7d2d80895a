import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { AUTH_DATA_SOURCE } from '../../libs/auth/src/database/typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { SqliteDatabase } from '../../libs/auth/src/database/sqlite-database';
import { RolledBack, type Transaction } from '../../libs/auth/src/database/transaction';
import { createDatabase, DATABASES, describeOn, type DatabaseName } from '../support/databases';
import { TestApplication, PASSWORD, type TestApplicationOptions } from '../support/test-application';
import { RaceEnvironment } from './environment';
import {
  orAlwaysTrue,
  allOf,
  END,
  FIRST_USE,
  keepCredentialsVersion,
  parameter,
  REISSUE,
  replace,
  REPLAY,
  RESCHEDULE,
  ROTATION,
  removeRowLocks,
  removeUserLock,
  type Mutation,
} from './mutations';
import { LOGOUT } from './operations';
import {
  attemptAgainstAttemptAtTheLimit,
  attemptAgainstSuccess,
  endOfInactiveAgainstActivity,
  pruningAgainstFailure,
  reuseAgainstReauthentication,
} from './row-lock-scenarios';
import {
  changeAgainstChange,
  deleteAgainstDelete,
  firstUseAgainstRefresh,
  loginAgainstChange,
  loginAgainstLogin,
  logoutAgainstDelete,
  logoutAgainstPruning,
  reauthenticationAgainstItself,
  refreshAgainstEnd,
  refreshAgainstItself,
  refreshAgainstPruning,
  refreshAgainstReauthentication,
  replayAgainstEnd,
  replayAgainstFirstUse,
  replayAgainstRefresh,
  replayAgainstReplayAtTheLimit,
  type Scenario,
  type Setting,
} from './scenarios';
import { openingAgainstProof } from './ticket-end-scenarios';
import {
  attemptAgainstAttempt,
  creationAgainstCreation,
  proofAgainstConfirmation,
  proofAgainstProof,
  ticketAgainstItself,
  ticketAgainstLogoutOfAll,
  ticketOutlivesNoChange,
} from './ticket-scenarios';

/** A guard condition of the code, how to remove it from the statements, and a scenario that must then fail. */
interface Guard {
  readonly guard: string;
  readonly auth?: AuthModuleOptions;
  readonly remove: Mutation;
  /** A second guard for the same case. The scenario must pass if only this guard is removed, and fail without both. */
  readonly alsoRemove?: Mutation;
  readonly scenario: Scenario;
  /** Whether SQLite does not need the guard, such as a row lock, because its transactions are never interrupted. */
  readonly isLock?: boolean;
}

/** Removes the part of an update's condition that follows the state. */
const removeLastCondition = (update: RegExp): Mutation =>
  replace(update, /(?<=.state. = 'active'\s+AND ).+$/s, orAlwaysTrue);

const grace = { refreshReuseGraceSeconds: 10 };

const GUARDS: readonly Guard[] = [
  {
    guard: 'the presented token in the condition of a rotation',
    remove: replace(ROTATION, new RegExp(String.raw`s\..refresh_digest. = ${parameter}`), orAlwaysTrue),
    scenario: refreshAgainstItself,
  },
  {
    guard: 'the presented token in the condition of a rotation, during a reauthentication',
    remove: replace(ROTATION, new RegExp(String.raw`s\..refresh_digest. = ${parameter}`), orAlwaysTrue),
    scenario: refreshAgainstReauthentication,
  },
  {
    guard: 'the state in the condition of a rotation',
    remove: replace(ROTATION, /s\..state. = 'active'/, '1 = 1'),
    scenario: refreshAgainstEnd(LOGOUT),
  },
  {
    guard: 'the live pair in the condition of a replay',
    auth: grace,
    remove: replace(REPLAY, new RegExp(String.raw`s\..refresh_digest. = ${parameter}`), orAlwaysTrue),
    scenario: replayAgainstRefresh,
  },
  {
    guard: 'the first use in the condition of a replay from another network',
    auth: grace,
    remove: replace(REPLAY, /s\..first_used_at. IS NULL/, '1 = 1'),
    scenario: replayAgainstFirstUse,
  },
  {
    guard: 'the limit in the condition of a replay',
    auth: grace,
    remove: replace(REPLAY, /s\..replay_count. < 100/, '1 = 1'),
    scenario: replayAgainstReplayAtTheLimit,
  },
  {
    guard: 'the state in the condition of a replay',
    auth: grace,
    remove: replace(REPLAY, /s\..state. = 'active'/, '1 = 1'),
    scenario: replayAgainstEnd(LOGOUT),
  },
  {
    guard: 'the access token in the condition of a first use',
    auth: grace,
    remove: replace(FIRST_USE, new RegExp(`.access_digest. = ${parameter}`), orAlwaysTrue),
    scenario: firstUseAgainstRefresh,
  },
  {
    guard: 'the access token in the condition of a reauthentication, and the lock of the session',
    remove: replace(REISSUE, new RegExp(String.raw`s\..access_digest. = ${parameter}`), orAlwaysTrue),
    alsoRemove: removeRowLocks,
    scenario: reauthenticationAgainstItself,
    isLock: true,
  },
  {
    guard: 'the lock of the user at a login under a limit',
    auth: { sessionPolicy: 'single' },
    remove: removeUserLock,
    scenario: loginAgainstLogin({ limit: 1, before: 1, rejects: false }),
    isLock: true,
  },
  {
    guard: 'the state in the condition of an end, and the lock of the session, for the listeners of its signal',
    remove: replace(END, /s\..state. = 'active'/, '1 = 1'),
    alsoRemove: removeRowLocks,
    scenario: deleteAgainstDelete,
    isLock: true,
  },
  {
    guard: 'the expiry in the condition of an end by pruning, and the lock of the session',
    remove: removeLastCondition(END),
    alsoRemove: removeRowLocks,
    scenario: refreshAgainstPruning,
    isLock: true,
  },
  {
    guard: 'the token family in the condition of an end after reuse, and the lock of the session',
    remove: removeLastCondition(END),
    alsoRemove: removeRowLocks,
    scenario: reuseAgainstReauthentication,
    isLock: true,
  },
  {
    guard: 'the last activity in the condition of an end for inactivity, and the lock of the session',
    remove: removeLastCondition(END),
    alsoRemove: removeRowLocks,
    scenario: endOfInactiveAgainstActivity,
    isLock: true,
  },
  {
    guard: 'the increment of the counters before a secret is verified',
    remove: replace(/^INSERT INTO .auth_login_failures/, /END \+ 1/, 'END + 0'),
    scenario: attemptAgainstAttemptAtTheLimit,
  },
  {
    guard: 'the delay that an attempt begins before its secret is verified',
    remove: replace(/^UPDATE .auth_login_failures. SET .delayed_until/, /$/, ' AND 1 = 0'),
    scenario: attemptAgainstAttemptAtTheLimit,
  },
  {
    guard: 'the deletion of both counters by a success',
    remove: replace(/^DELETE FROM .auth_login_failures. WHERE .delayed_until/, /$/, ' AND 1 = 0'),
    scenario: attemptAgainstSuccess,
  },
  {
    guard: 'the expiry in the condition by which pruning deletes a failure streak, and its lock',
    remove: replace(
      /^DELETE FROM .auth_login_failures. WHERE .key. IN/,
      /AND .+$/s,
      (found) => `AND ${orAlwaysTrue(found.slice(4))}`,
    ),
    alsoRemove: removeRowLocks,
    scenario: pruningAgainstFailure,
    isLock: true,
  },
  {
    guard: 'the state in the condition of an end, and the lock of the session',
    remove: replace(END, /s\..state. = 'active'/, '1 = 1'),
    alsoRemove: removeRowLocks,
    scenario: logoutAgainstDelete,
    isLock: true,
  },
  {
    guard: 'the state of a session that pruning reschedules, and its lock',
    remove: replace(RESCHEDULE, /.state. = 'active'/, '1 = 1'),
    alsoRemove: removeRowLocks,
    scenario: logoutAgainstPruning,
    isLock: true,
  },
  {
    guard: 'the verified hash in the condition of a password change',
    auth: { revokeOnPasswordChange: false },
    remove: replace(/^UPDATE .auth_users/, / = 1 OR /, ' <= 1 OR '),
    scenario: changeAgainstChange,
  },
  {
    guard: 'the deletion of a login ticket when its session opens',
    remove: replace(
      /^DELETE FROM .auth_login_tickets. WHERE .digest./,
      /^DELETE FROM (\S+)/,
      (found) => `UPDATE ${found.slice('DELETE FROM '.length)} SET failure_count = 0`,
    ),
    scenario: ticketAgainstItself,
  },
  {
    guard: 'the methods in the condition of the deletion of a login ticket when its session opens',
    remove: replace(
      /^(SELECT 1 AS valid|DELETE) FROM .auth_login_tickets. WHERE .digest./,
      new RegExp(`.methods. = ${parameter}`),
      orAlwaysTrue,
    ),
    scenario: openingAgainstProof,
  },
  {
    guard: 'the version of the credentials, and the deletion of login tickets, at a password change',
    auth: { revokeOnPasswordChange: false },
    remove: keepCredentialsVersion,
    alsoRemove: replace(/^DELETE FROM .auth_login_tickets. WHERE .user_id. = \S+$/, /$/, ' AND 1 = 0'),
    scenario: ticketOutlivesNoChange,
  },
  {
    guard: 'the version of the credentials, and the deletion of login tickets, at a logout of all',
    remove: keepCredentialsVersion,
    alsoRemove: replace(/^DELETE FROM .auth_login_tickets. WHERE .user_id. = \S+$/, /$/, ' AND 1 = 0'),
    scenario: ticketAgainstLogoutOfAll,
  },
  {
    guard: 'the limit in the condition of an attempt with a login ticket',
    remove: replace(/^UPDATE .auth_login_tickets/, /.failure_count. < 5/, '1 = 1'),
    alsoRemove: replace(/^SELECT .*FROM .auth_login_tickets/s, /.failure_count. < 5/, '1 = 1'),
    scenario: attemptAgainstAttempt,
  },
  {
    guard: 'the methods in the condition of a proof for a login ticket, and its lock',
    remove: replace(
      /^UPDATE .auth_login_tickets/,
      new RegExp(String.raw`.methods. = ${parameter} AND`),
      (found) => `${orAlwaysTrue(found.slice(0, -4))} AND`,
    ),
    alsoRemove: removeRowLocks,
    scenario: proofAgainstProof,
    isLock: true,
  },
  {
    guard: 'the methods in the condition of a confirmation of the identity, and the lock of the session',
    remove: replace(REISSUE, new RegExp(String.raw`s\..methods. = ${parameter}(?=\s*(RETURNING|$))`), orAlwaysTrue),
    alsoRemove: removeRowLocks,
    scenario: proofAgainstConfirmation,
    isLock: true,
  },
  {
    guard: 'the access token and the methods in the condition of a proof within a session',
    remove: replace(
      /^UPDATE .auth_sessions. SET .methods./,
      new RegExp(`.access_digest. = ${parameter}`),
      orAlwaysTrue,
    ),
    alsoRemove: replace(
      /^UPDATE .auth_sessions. SET .methods./,
      new RegExp(String.raw`.methods. = ${parameter}$`),
      orAlwaysTrue,
    ),
    scenario: proofAgainstConfirmation,
    isLock: true,
  },
  {
    guard: 'the lock of the user when a login ticket is stored',
    remove: removeUserLock,
    scenario: creationAgainstCreation,
    isLock: true,
  },
  {
    guard: 'the version of the credentials at a login',
    remove: keepCredentialsVersion,
    scenario: loginAgainstChange,
  },
];

const SETTINGS: readonly Setting[] = [
  { instances: 2, held: 'first' },
  { instances: 2, held: 'second' },
];

async function failures(
  name: DatabaseName,
  { auth, scenario }: Guard,
  mutation: Mutation,
): Promise<{ failed: unknown[]; mutations: number }> {
  const environment = await RaceEnvironment.create(name, auth, mutation);
  const failed: unknown[] = [];
  try {
    for (const setting of SETTINGS) await scenario(environment, setting).catch((error: unknown) => failed.push(error));
    return { failed, mutations: environment.mutations };
  } finally {
    await environment.close();
  }
}

describe.each(DATABASES)('race scenarios on %s without a guard condition', (name) => {
  it.each(GUARDS.filter(({ isLock }) => !isLock || name !== 'sqlite'))(
    'a race scenario fails without $guard',
    async (guard) => {
      const { remove, alsoRemove } = guard;
      if (alsoRemove) expect((await failures(name, guard, alsoRemove)).failed).toEqual([]);
      const mutation = alsoRemove ? allOf(remove, alsoRemove) : remove;
      const { failed, mutations } = await failures(name, guard, mutation);
      expect(mutations).toBeGreaterThan(0);
      expect(failed.length).toBeGreaterThan(0);
      // An expectation of the scenario must fail, not the execution of the changed statement.
      expect(failed.map((error) => (error as { matcherResult?: unknown }).matcherResult !== undefined)).toContain(true);
    },
  );
});

interface Connection {
  prepare(sql: string): { reader: boolean; all(...params: unknown[]): object[]; run(...params: unknown[]): unknown };
  exec(sql: string): unknown;
}

/** Runs transactions on the connection of SQLite without a queue, and yields between the statements. */
class YieldingDatabase extends SqliteDatabase {
  constructor(private readonly source: DataSource) {
    super(source);
  }

  protected override async runTransaction<T>(transaction: () => Transaction<T>): Promise<T> {
    const { databaseConnection } = this.source.driver as unknown as { databaseConnection: Connection };
    databaseConnection.exec('BEGIN IMMEDIATE');
    const run = transaction();
    for (let step = run.next(); ;) {
      await new Promise(setImmediate);
      if (step.done) {
        databaseConnection.exec(step.value instanceof RolledBack ? 'ROLLBACK' : 'COMMIT');
        return step.value instanceof RolledBack ? step.value.outcome : step.value;
      }
      const statement = databaseConnection.prepare(step.value.sql);
      const { params = [] } = step.value;
      step = run.next(
        statement.reader
          ? { rows: statement.all(...params) as never, affected: 0 }
          : { rows: [], affected: (statement.run(...params) as { changes: number }).changes },
      );
    }
  }
}

describeOn('sqlite')('transactions on SQLite', () => {
  it('parallel logins fail if a transaction yields between its statements', async () => {
    const users = ['alice', 'bob', 'carol'];
    const failed = async (override?: TestApplicationOptions['override']): Promise<number> => {
      const database = await createDatabase('sqlite');
      const app = await TestApplication.start({ database, users, ...(override ? { override } : {}) });
      const logins = users.map((username) => app.auth.login({ username, password: PASSWORD }));
      const outcomes = await Promise.allSettled(logins);
      await app.close();
      await database.drop();
      return outcomes.filter(({ status }) => status === 'rejected').length;
    };
    const yielding = await failed((module) =>
      module.overrideProvider(Database).useFactory({
        factory: (dataSource: DataSource) => new YieldingDatabase(dataSource),
        inject: [AUTH_DATA_SOURCE],
      }),
    );
    expect(yielding).toBeGreaterThan(0);
    expect(await failed()).toBe(0);
  });
});
