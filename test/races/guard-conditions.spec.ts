import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { AUTH_DATA_SOURCE } from '../../libs/auth/src/store/database/data-source';
import { Database } from '../../libs/auth/src/store/database/database';
import { SqliteDatabase } from '../../libs/auth/src/store/database/sqlite-database';
import { RolledBack, type Transaction } from '../../libs/auth/src/store/database/transaction';
import { createDatabase, DATABASES, describeOn, type DatabaseName } from '../support/databases';
import { Host, PASSWORD, type HostOptions } from '../support/host';
import { RaceEnvironment } from './environment';
import {
  always,
  either,
  END,
  FIRST_USE,
  parameter,
  REISSUE,
  replace,
  REPLAY,
  RESCHEDULE,
  ROTATION,
  takeOutRowLocks,
  takeOutUserLock,
  TAKE_SLOT,
  WRITE_STREAK,
  type Mutation,
} from './mutations';
import { LOGOUT } from './operations';
import {
  admissionAgainstAdmission,
  endOfInactiveAgainstActivity,
  failureAgainstFailure,
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
import {
  attemptAgainstAttempt,
  creationAgainstCreation,
  proofAgainstConfirmation,
  proofAgainstProof,
  ticketAgainstItself,
  ticketAgainstLogoutOfAll,
  ticketOutlivesNoChange,
} from './ticket-scenarios';

/** A guard condition of the code, how it is taken out of the statements, and a scenario that must then fail. */
interface Guard {
  readonly guard: string;
  readonly auth?: AuthModuleOptions;
  readonly takeOut: Mutation;
  /** A second guard that covers the same case: the scenario must pass without that one, and fail without both. */
  readonly alsoWithout?: Mutation;
  readonly scenario: Scenario;
  /** Rows need no lock on SQLite, where a transaction is never interrupted. */
  readonly isLock?: boolean;
}

/** What follows the state in the condition of an update. */
const takeOutLastCondition = (update: RegExp): Mutation =>
  replace(update, /(?<=.state. = 'active'\s+AND ).+$/s, always);

const grace = { refreshReuseGraceSeconds: 10 };

const GUARDS: readonly Guard[] = [
  {
    guard: 'the presented token in the condition of a rotation',
    takeOut: replace(ROTATION, new RegExp(String.raw`s\..refresh_digest. = ${parameter}`), always),
    scenario: refreshAgainstItself,
  },
  {
    guard: 'the presented token in the condition of a rotation, beside a reauthentication',
    takeOut: replace(ROTATION, new RegExp(String.raw`s\..refresh_digest. = ${parameter}`), always),
    scenario: refreshAgainstReauthentication,
  },
  {
    guard: 'the state in the condition of a rotation',
    takeOut: replace(ROTATION, /s\..state. = 'active'/, '1 = 1'),
    scenario: refreshAgainstEnd(LOGOUT),
  },
  {
    guard: 'the live pair in the condition of a replay',
    auth: grace,
    takeOut: replace(REPLAY, new RegExp(String.raw`s\..refresh_digest. = ${parameter}`), always),
    scenario: replayAgainstRefresh,
  },
  {
    guard: 'the first use in the condition of a replay from another network',
    auth: grace,
    takeOut: replace(REPLAY, /s\..first_used_at. IS NULL/, '1 = 1'),
    scenario: replayAgainstFirstUse,
  },
  {
    guard: 'the limit in the condition of a replay',
    auth: grace,
    takeOut: replace(REPLAY, /s\..replay_count. < 100/, '1 = 1'),
    scenario: replayAgainstReplayAtTheLimit,
  },
  {
    guard: 'the state in the condition of a replay',
    auth: grace,
    takeOut: replace(REPLAY, /s\..state. = 'active'/, '1 = 1'),
    scenario: replayAgainstEnd(LOGOUT),
  },
  {
    guard: 'the access token in the condition of a first use',
    auth: grace,
    takeOut: replace(FIRST_USE, new RegExp(`.access_digest. = ${parameter}`), always),
    scenario: firstUseAgainstRefresh,
  },
  {
    guard: 'the access token in the condition of a reauthentication',
    takeOut: replace(REISSUE, new RegExp(String.raw`s\..access_digest. = ${parameter}`), always),
    scenario: reauthenticationAgainstItself,
  },
  {
    guard: 'the lock of the user at a login under a limit',
    auth: { sessionPolicy: 'single' },
    takeOut: takeOutUserLock,
    scenario: loginAgainstLogin({ limit: 1, before: 1, rejects: false }),
    isLock: true,
  },
  {
    guard: 'the state in the condition of an end, and the lock of the session, for whoever is told of the end',
    takeOut: replace(END, /s\..state. = 'active'/, '1 = 1'),
    alsoWithout: takeOutRowLocks,
    scenario: deleteAgainstDelete,
    isLock: true,
  },
  {
    guard: 'the expiry in the condition of an end by pruning, and the lock of the session',
    takeOut: takeOutLastCondition(END),
    alsoWithout: takeOutRowLocks,
    scenario: refreshAgainstPruning,
    isLock: true,
  },
  {
    guard: 'the token family in the condition of an end by reuse, and the lock of the session',
    takeOut: takeOutLastCondition(END),
    alsoWithout: takeOutRowLocks,
    scenario: reuseAgainstReauthentication,
    isLock: true,
  },
  {
    guard: 'the last activity in the condition of an end for inactivity, and the lock of the session',
    takeOut: takeOutLastCondition(END),
    alsoWithout: takeOutRowLocks,
    scenario: endOfInactiveAgainstActivity,
    isLock: true,
  },
  {
    guard: 'the failure streak in the condition of an attempt within a session, and the lock of the session',
    takeOut: takeOutLastCondition(TAKE_SLOT),
    alsoWithout: takeOutRowLocks,
    scenario: admissionAgainstAdmission,
    isLock: true,
  },
  {
    guard: 'the failure streak in the condition of a failure within a session, and the lock of the session',
    takeOut: takeOutLastCondition(WRITE_STREAK),
    alsoWithout: takeOutRowLocks,
    scenario: failureAgainstFailure,
    isLock: true,
  },
  {
    guard: 'the expiry in the condition of a failure streak that pruning removes, and its lock',
    takeOut: replace(
      /^DELETE FROM .auth_login_failures. WHERE .key. IN/,
      /AND .+$/s,
      (found) => `AND ${always(found.slice(4))}`,
    ),
    alsoWithout: takeOutRowLocks,
    scenario: pruningAgainstFailure,
    isLock: true,
  },
  {
    guard: 'the state in the condition of an end, and the lock of the session',
    takeOut: replace(END, /s\..state. = 'active'/, '1 = 1'),
    alsoWithout: takeOutRowLocks,
    scenario: logoutAgainstDelete,
    isLock: true,
  },
  {
    guard: 'the state of a session that pruning schedules again, and its lock',
    takeOut: replace(RESCHEDULE, /.state. = 'active'/, '1 = 1'),
    alsoWithout: takeOutRowLocks,
    scenario: logoutAgainstPruning,
    isLock: true,
  },
  {
    guard: 'the verified hash in the condition of a password change',
    auth: { revokeOnPasswordChange: false },
    takeOut: replace(/^UPDATE .auth_users/, / = 1 OR /, ' <= 1 OR '),
    scenario: changeAgainstChange,
  },
  {
    guard: 'the removal of a login ticket by the opening of its session',
    takeOut: replace(
      /^DELETE FROM .auth_login_tickets. WHERE .digest./,
      /^DELETE FROM (\S+)/,
      (found) => `UPDATE ${found.slice('DELETE FROM '.length)} SET failure_count = 0`,
    ),
    scenario: ticketAgainstItself,
  },
  {
    guard: 'the version of the credentials, and the removal of login tickets, at a password change',
    auth: { revokeOnPasswordChange: false },
    takeOut: replace(/^UPDATE .auth_user_locks/, /.credentials_version. \+ 1/, (found) => found.replace('+ 1', '+ 0')),
    alsoWithout: replace(/^DELETE FROM .auth_login_tickets. WHERE .user_id. = \S+$/, /$/, ' AND 1 = 0'),
    scenario: ticketOutlivesNoChange,
  },
  {
    guard: 'the removal of login tickets at a logout of all',
    takeOut: replace(/^DELETE FROM .auth_login_tickets. WHERE .user_id. = \S+$/, /$/, ' AND 1 = 0'),
    scenario: ticketAgainstLogoutOfAll,
  },
  {
    guard: 'the limit in the condition of an attempt with a login ticket',
    takeOut: replace(/^UPDATE .auth_login_tickets/, /.failure_count. < 5/, '1 = 1'),
    alsoWithout: replace(/^SELECT .*FROM .auth_login_tickets/s, /.failure_count. < 5/, '1 = 1'),
    scenario: attemptAgainstAttempt,
  },
  {
    guard: 'the methods in the condition of a proof for a login ticket, and its lock',
    takeOut: replace(
      /^UPDATE .auth_login_tickets/,
      new RegExp(String.raw`.methods. = ${parameter} AND`),
      (found) => `${always(found.slice(0, -4))} AND`,
    ),
    alsoWithout: takeOutRowLocks,
    scenario: proofAgainstProof,
    isLock: true,
  },
  {
    guard: 'the methods in the condition of a confirmed identity',
    takeOut: replace(REISSUE, new RegExp(String.raw`s\..methods. = ${parameter}(?=\s*(RETURNING|$))`), always),
    scenario: proofAgainstConfirmation,
  },
  {
    guard: 'the access token, and the methods, in the condition of a proof within a session',
    takeOut: replace(/^UPDATE .auth_sessions. SET .methods./, new RegExp(`.access_digest. = ${parameter}`), always),
    alsoWithout: replace(
      /^UPDATE .auth_sessions. SET .methods./,
      new RegExp(String.raw`.methods. = ${parameter}$`),
      always,
    ),
    scenario: proofAgainstConfirmation,
  },
  {
    guard: 'the lock of the user at the storing of a login ticket',
    takeOut: takeOutUserLock,
    scenario: creationAgainstCreation,
    isLock: true,
  },
  {
    guard: 'the version of the credentials at a login',
    takeOut: replace(/^UPDATE .auth_user_locks/, /.credentials_version. \+ 1/, '0'),
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

describe.each(DATABASES)('a scenario of the races on %s fails without', (name) => {
  it.each(GUARDS.filter(({ isLock }) => !isLock || name !== 'sqlite'))('$guard', async (guard) => {
    const { takeOut, alsoWithout } = guard;
    if (alsoWithout) expect((await failures(name, guard, alsoWithout)).failed).toEqual([]);
    const without = alsoWithout ? either(takeOut, alsoWithout) : takeOut;
    const { failed, mutations } = await failures(name, guard, without);
    expect(mutations).toBeGreaterThan(0);
    expect(failed.length).toBeGreaterThan(0);
    // It is an expectation of the scenario that fails, not a statement that cannot be run.
    expect(failed.map((error) => (error as { matcherResult?: unknown }).matcherResult !== undefined)).toContain(true);
  });
});

interface Connection {
  prepare(sql: string): { reader: boolean; all(...params: unknown[]): object[]; run(...params: unknown[]): unknown };
  exec(sql: string): unknown;
}

/** Runs transactions on SQLite's one connection as on a pool: it gives up control between their statements. */
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
      const { params } = step.value;
      step = run.next(
        statement.reader
          ? { rows: statement.all(...params) as never, affected: 0 }
          : { rows: [], affected: (statement.run(...params) as { changes: number }).changes },
      );
    }
  }
}

describeOn('sqlite')('on SQLite', () => {
  it('parallel logins fail when a transaction gives up control between its statements', async () => {
    const users = ['alice', 'bob', 'carol'];
    const failed = async (override?: HostOptions['override']): Promise<number> => {
      const database = await createDatabase('sqlite');
      const host = await Host.start({ database, users, ...(override ? { override } : {}) });
      const logins = users.map((username) => host.auth.login({ username, password: PASSWORD }));
      const outcomes = await Promise.allSettled(logins);
      await host.close();
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
