import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { AUTH_DATA_SOURCE } from '../../libs/auth/src/database/typeorm';
import { Database } from '../../libs/auth/src/database/database';
import { SqliteDatabase } from '../../libs/auth/src/database/sqlite-database';
import { RolledBack, type Transaction } from '../../libs/auth/src/database/transaction';
import { DATABASES, describeOn, type DatabaseName } from '../support/databases';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplicationOptions } from '../support/test-application';
import { OVER_TWO_INSTANCES, RaceEnvironment, type Scenario } from './environment';
import {
  allOf,
  END,
  FIRST_USE,
  keepCredentialsVersion,
  PROOF,
  REISSUE,
  removeRowLocks,
  removeUserLock,
  replace,
  REPLAY,
  RESCHEDULE,
  ROTATION,
  withoutComparison,
  withoutEffect,
  withoutFurtherConditions,
  withoutLastCondition,
  withoutState,
  type Mutation,
} from './mutations';
import { ending, LOGOUT } from './operations';
import * as rowLocks from './row-lock-scenarios';
import * as sessions from './scenarios';
import * as tickets from './ticket-scenarios';

/** How to remove a guard condition from the statements, and a scenario that must then fail. */
interface Guard {
  readonly remove: Mutation;
  readonly scenario: Scenario;
  /** A second guard for the same case. The scenario must pass if only this guard is removed, and fail without both. */
  readonly alsoRemove?: Mutation;
  /** Whether SQLite does not need the guard, such as a row lock, because its transactions are never interrupted. */
  readonly isLock?: boolean;
  /** Whether the scenario passes on MySQL 9 without the guard, which MariaDB and PostgreSQL need. */
  readonly isSpareOnMysql?: boolean;
}

const guard = (remove: Mutation, scenario: Scenario): Guard => ({ remove, scenario });
const withLock = (remove: Mutation, scenario: Scenario): Guard => ({
  ...guard(remove, scenario),
  alsoRemove: removeRowLocks,
  isLock: true,
});
const userLock = (scenario: Scenario): Guard => ({ ...guard(removeUserLock, scenario), isLock: true });
const versionAndTickets = (scenario: Scenario): Guard => ({
  ...guard(keepCredentialsVersion, scenario),
  alsoRemove: withoutEffect(/^DELETE FROM .auth_login_tickets. WHERE .user_id. = \S+$/),
});

/** The guards by the options of the application. */
const GUARDS: readonly (readonly [AuthModuleOptions, Readonly<Record<string, Guard>>])[] = [
  [
    {},
    {
      'the presented token in the condition of a rotation': guard(
        withoutComparison(ROTATION, 'refresh_digest'),
        sessions.refreshAgainstItself,
      ),
      'the presented token in the condition of a rotation, during a reauthentication': guard(
        withoutComparison(ROTATION, 'refresh_digest'),
        sessions.refreshAgainstReauthentication,
      ),
      'the state in the condition of a rotation': guard(withoutState(ROTATION), sessions.refreshAgainstEnd(LOGOUT)),
      'the access token in the condition of a reauthentication, and the lock of the session': withLock(
        withoutComparison(REISSUE, 'access_digest'),
        sessions.reauthenticationAgainstItself,
      ),
      'the state in the condition of an end, and the lock of the session, for the listeners of its signal': withLock(
        withoutState(END),
        sessions.deleteAgainstDelete,
      ),
      'the state in the condition of an end, and the lock of the session': withLock(
        withoutState(END),
        sessions.logoutAgainstDelete,
      ),
      'the expiry in the condition of an end by pruning, and the lock of the session': withLock(
        withoutLastCondition(END),
        sessions.refreshAgainstPruning,
      ),
      'the token family in the condition of an end after reuse, and the lock of the session': withLock(
        withoutLastCondition(END),
        rowLocks.reuseAgainstReauthentication,
      ),
      'the last activity in the condition of an end for inactivity, and the lock of the session': withLock(
        withoutLastCondition(END),
        rowLocks.endOfInactiveAgainstActivity,
      ),
      'the state of a session that pruning reschedules, and its lock': withLock(
        withoutState(RESCHEDULE),
        sessions.logoutAgainstPruning,
      ),
      'the increment of the counters before a secret is verified': guard(
        replace(/^INSERT INTO .auth_login_failures/, /END \+ 1/, 'END + 0'),
        rowLocks.attemptAgainstAttemptAtTheLimit,
      ),
      'the delay that an attempt begins before its secret is verified': guard(
        withoutEffect(/^UPDATE .auth_login_failures. SET .delayed_until/),
        rowLocks.attemptAgainstAttemptAtTheLimit,
      ),
      'the deletion of both counters by a success': guard(
        withoutEffect(/^DELETE FROM .auth_login_failures. WHERE .delayed_until/),
        rowLocks.attemptAgainstSuccess,
      ),
      'the expiry in the condition by which pruning deletes a failure streak, and its lock': withLock(
        withoutFurtherConditions(/^DELETE FROM .auth_login_failures. WHERE .key. IN/),
        rowLocks.pruningAgainstFailure,
      ),
      'the deletion of a login ticket when its session opens': guard(
        replace(
          /^DELETE FROM .auth_login_tickets. WHERE .digest./,
          /^DELETE FROM (\S+)/,
          (found) => `UPDATE ${found.slice('DELETE FROM '.length)} SET failure_count = 0`,
        ),
        tickets.openingAgainstItself,
      ),
      'the methods in the condition of the deletion of a login ticket when its session opens': guard(
        withoutComparison(/^(SELECT 1 AS valid|DELETE) FROM .auth_login_tickets. WHERE .digest./, 'methods'),
        tickets.openingAgainstProof,
      ),
      'the version of the credentials, and the deletion of login tickets, at a logout of all': versionAndTickets(
        tickets.openingAgainstEnd(ending('a logout of all sessions')),
      ),
      'the version of the credentials at a login': guard(keepCredentialsVersion, sessions.loginAgainstChange),
      'the limit in the condition of an attempt with a login ticket': {
        remove: replace(/^UPDATE .auth_login_tickets/, /.failure_count. < 5/, '1 = 1'),
        alsoRemove: replace(/^SELECT .*FROM .auth_login_tickets/s, /.failure_count. < 5/, '1 = 1'),
        scenario: tickets.attemptAgainstAttempt,
      },
      'the methods in the condition of a proof for a login ticket, and its lock': withLock(
        withoutComparison(/^UPDATE .auth_login_tickets/, 'methods', '(?= AND)'),
        tickets.proofAgainstProof,
      ),
      'the methods in the condition of a confirmation of the identity, and the lock of the session': withLock(
        withoutComparison(REISSUE, 'methods', String.raw`(?=\s*(RETURNING|$))`),
        tickets.proofAgainstConfirmation,
      ),
      'the access token and the methods in the condition of a proof within a session': {
        remove: withoutComparison(PROOF, 'access_digest'),
        alsoRemove: withoutComparison(PROOF, 'methods', '$'),
        scenario: tickets.proofAgainstConfirmation,
        isLock: true,
      },
      'the lock of the user when a login ticket is stored': userLock(tickets.creationAgainstCreation),
    },
  ],
  [
    { refreshReuseGraceSeconds: 10 },
    {
      'the live pair in the condition of a replay': guard(
        withoutComparison(REPLAY, 'refresh_digest'),
        sessions.replayAgainstRefresh,
      ),
      'the first use in the condition of a replay from another network': guard(
        replace(REPLAY, /s\..first_used_at. IS NULL/, '1 = 1'),
        sessions.replayAgainstFirstUse,
      ),
      'the limit in the condition of a replay': guard(
        replace(REPLAY, /s\..replay_count. < 100/, '1 = 1'),
        sessions.replayAgainstReplayAtTheLimit,
      ),
      'the state in the condition of a replay': guard(withoutState(REPLAY), sessions.replayAgainstEnd(LOGOUT)),
      'the access token in the condition of a first use': guard(
        withoutComparison(FIRST_USE, 'access_digest'),
        sessions.firstUseAgainstRefresh,
      ),
    },
  ],
  [
    { sessionPolicy: 'single' },
    {
      'the lock of the user at a login under a limit': {
        ...userLock(sessions.loginAgainstLogin(1, 1)),
        isSpareOnMysql: true,
      },
    },
  ],
  [
    { revokeOnPasswordChange: false },
    {
      'the verified hash in the condition of a password change': guard(
        replace(/^UPDATE .auth_users/, / = 1 OR /, ' <= 1 OR '),
        sessions.changeAgainstChange,
      ),
      'the version of the credentials, and the deletion of login tickets, at a password change': versionAndTickets(
        tickets.ticketOutlivesNoChange,
      ),
    },
  ],
];

/** Returns the failures of a scenario in each setting while a mutation changes statements. */
async function failures(environment: RaceEnvironment, scenario: Scenario, mutation: Mutation): Promise<unknown[]> {
  environment.mutate(mutation);
  const failed: unknown[] = [];
  for (const setting of OVER_TWO_INSTANCES) {
    await scenario(environment, setting).catch((error: unknown) => failed.push(error));
  }
  return failed;
}

describe.each(DATABASES)('race scenarios on %s without a guard condition', (name: DatabaseName) => {
  describe.each(GUARDS)('with the options %j', (auth, guards) => {
    const needed = Object.entries(guards).filter(
      ([, { isLock, isSpareOnMysql }]) => !(isLock && name === 'sqlite') && !(isSpareOnMysql && name === 'mysql9'),
    );
    if (needed.length === 0) return;
    let environment: RaceEnvironment;
    beforeAll(async () => {
      environment = await RaceEnvironment.create(name, auth);
    });
    afterAll(() => environment.close());

    it.each(needed)('a race scenario fails without %s', async (_, { remove, alsoRemove, scenario }) => {
      if (alsoRemove) expect(await failures(environment, scenario, alsoRemove)).toEqual([]);
      const removed = alsoRemove ? allOf(remove, alsoRemove) : remove;
      let failed: unknown[] = [];
      // On MariaDB, logins without the lock of the user do not exceed the limit in every round.
      for (let round = 0; round < 6 && failed.length === 0; round++) {
        failed = await failures(environment, scenario, removed);
      }
      expect(environment.mutations).toBeGreaterThan(0);
      // An expectation of the scenario must fail, not the execution of the changed statement.
      expect(failed.map((error) => (error as { matcherResult?: unknown }).matcherResult !== undefined)).toContain(true);
    });
  });
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

describeOn('sqlite')('transactions on SQLite', (name) => {
  it('parallel logins fail if a transaction yields between its statements', async () => {
    const users = ['alice', 'bob', 'carol'];
    const failuresWith = async (options: Pick<TestApplicationOptions, 'override'>): Promise<number> => {
      const { auth } = await startForTest(name, { users, ...options });
      const outcomes = await Promise.allSettled(users.map((username) => auth.login({ username, password: PASSWORD })));
      return outcomes.filter(({ status }) => status === 'rejected').length;
    };
    const factory = (dataSource: DataSource): Database => new YieldingDatabase(dataSource);
    const yielding = await failuresWith({
      override: (module) => module.overrideProvider(Database).useFactory({ factory, inject: [AUTH_DATA_SOURCE] }),
    });
    expect(yielding).toBeGreaterThan(0);
    expect(await failuresWith({})).toBe(0);
  });
});
