import type { AuthModuleOptions } from 'nestjs-session-auth';
import { DATABASES, type DatabaseName } from '../support/databases';
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

/**
 * A scenario that must fail without a guard condition, and how to remove this condition from the statements. If there
 * is a second guard for the same case, the scenario must pass if only that guard is removed, and fail without both.
 */
type Guard = readonly [scenario: Scenario, remove: Mutation, alsoRemove?: Mutation];

interface Guards {
  readonly auth: AuthModuleOptions;
  readonly guards: Readonly<Record<string, Guard>>;
  /** Guards that SQLite does not need, because its transactions are never interrupted. */
  readonly onServers?: Readonly<Record<string, Guard>>;
  /** Guards of servers for cases in which row locks are the second guard. */
  readonly besidesRowLocks?: Readonly<Record<string, Guard>>;
}

const FAILURES = '.auth_login_failures.';
const TICKETS = '.auth_login_tickets.';
const USED_TICKET = new RegExp(`^DELETE FROM ${TICKETS} WHERE .digest.`);
const withoutTicketDeletion = withoutEffect(new RegExp(String.raw`^DELETE FROM ${TICKETS} WHERE .user_id. = \S+$`));
const LOGIN_LOCK = 'the lock of the user at a login under a limit';

const GUARDS: readonly Guards[] = [
  {
    auth: {},
    guards: {
      'the presented token of a rotation': [
        sessions.refreshAgainstItself,
        withoutComparison(ROTATION, 'refresh_digest'),
      ],
      'the state of a rotation': [sessions.refreshAgainstEnd(LOGOUT), withoutState(ROTATION)],
      'the increment of the counters before a secret is verified': [
        rowLocks.attemptAgainstAttemptAtTheLimit,
        replace(new RegExp(`^INSERT INTO ${FAILURES}`), /END \+ 1/, 'END + 0'),
      ],
      'the delay that an attempt begins before its secret is verified': [
        rowLocks.attemptAgainstAttemptAtTheLimit,
        withoutEffect(new RegExp(`^UPDATE ${FAILURES} SET .delayed_until`)),
      ],
      'the deletion of both counters by a success': [
        rowLocks.attemptAgainstSuccess,
        withoutEffect(new RegExp(`^DELETE FROM ${FAILURES} WHERE .delayed_until`)),
      ],
      'the deletion of a login ticket when its session opens': [
        tickets.openingAgainstItself,
        replace(USED_TICKET, /^DELETE FROM (\S+)/, 'UPDATE $1 SET failure_count = 0'),
      ],
      'the methods in the deletion of a login ticket when its session opens': [
        tickets.openingAgainstProof,
        withoutComparison(new RegExp(`^(SELECT 1 AS valid|DELETE) FROM ${TICKETS} WHERE .digest.`), 'methods'),
      ],
      'the version of the credentials, and the deletion of login tickets, at a logout of all': [
        tickets.openingAgainstEnd(ending('a logout of all sessions')),
        keepCredentialsVersion,
        withoutTicketDeletion,
      ],
      'the version of the credentials, and the deletion of login tickets, at a password change': [
        tickets.openingAgainstEnd(ending('a password change in another session')),
        keepCredentialsVersion,
        withoutTicketDeletion,
      ],
      'the version of the credentials at a login': [sessions.loginAgainstChange, keepCredentialsVersion],
      'the limit of an attempt with a login ticket': [
        tickets.attemptAgainstAttempt,
        replace(new RegExp(`^UPDATE ${TICKETS}`), /.failure_count. < 5/, '1 = 1'),
        replace(new RegExp(`^SELECT .*FROM ${TICKETS}`, 's'), /.failure_count. < 5/, '1 = 1'),
      ],
    },
    onServers: {
      'the access token and the methods of a proof within a session': [
        tickets.proofAgainstConfirmation,
        withoutComparison(PROOF, 'access_digest'),
        withoutComparison(PROOF, 'methods', '$'),
      ],
      'the lock of the user when a login ticket is stored': [tickets.creationAgainstCreation, removeUserLock],
    },
    besidesRowLocks: {
      'the access token of a reauthentication': [
        sessions.reauthenticationAgainstItself,
        withoutComparison(REISSUE, 'access_digest'),
      ],
      'the state of an end': [sessions.logoutAgainstDelete, withoutState(END)],
      'the expiry of an end by pruning': [sessions.refreshAgainstPruning, withoutLastCondition(END)],
      'the token family of an end after reuse': [rowLocks.reuseAgainstReauthentication, withoutLastCondition(END)],
      'the last activity of an end for inactivity': [rowLocks.endOfInactiveAgainstActivity, withoutLastCondition(END)],
      'the expiry of a failure streak that pruning deletes': [
        rowLocks.pruningAgainstFailure,
        withoutFurtherConditions(new RegExp(`^DELETE FROM ${FAILURES} WHERE .key. IN`)),
      ],
      'the methods of a proof for a login ticket': [
        tickets.proofAgainstProof,
        withoutComparison(new RegExp(`^UPDATE ${TICKETS}`), 'methods', '(?= AND)'),
      ],
      'the methods of a confirmation of the identity': [
        tickets.proofAgainstConfirmation,
        withoutComparison(REISSUE, 'methods', String.raw`(?=\s*(RETURNING|$))`),
      ],
    },
  },
  {
    auth: { refreshReuseGraceSeconds: 10 },
    guards: {
      'the live pair of a replay': [sessions.replayAgainstRefresh, withoutComparison(REPLAY, 'refresh_digest')],
      'the first use of a replay from another network': [
        sessions.replayAgainstFirstUse,
        replace(REPLAY, /s\..first_used_at. IS NULL/, '1 = 1'),
      ],
      'the limit of replays': [
        sessions.replayAgainstReplayAtTheLimit,
        replace(REPLAY, /s\..replay_count. < 100/, '1 = 1'),
      ],
      'the state of a replay': [sessions.replayAgainstEnd(LOGOUT), withoutState(REPLAY)],
      'the access token of a first use': [
        sessions.firstUseAgainstRefresh,
        withoutComparison(FIRST_USE, 'access_digest'),
      ],
    },
  },
  {
    auth: { sessionPolicy: 'single' },
    guards: {},
    onServers: { [LOGIN_LOCK]: [sessions.loginAgainstLogin(1, 1), removeUserLock] },
  },
  {
    auth: { revokeOnPasswordChange: false },
    guards: {
      'the verified hash of a password change': [
        sessions.changeAgainstChange,
        replace(/^UPDATE .auth_users/, / = 1 OR /, ' <= 1 OR '),
      ],
    },
  },
];

/** Returns the failures of a scenario in each setting while a mutation changes statements. */
async function failures(environment: RaceEnvironment, scenario: Scenario, mutation: Mutation): Promise<unknown[]> {
  environment.mutate(mutation);
  const failed: unknown[] = [];
  for (const setting of OVER_TWO_INSTANCES.slice(0, scenario.isSymmetric ? 1 : 2)) {
    await scenario(environment, setting).catch((error: unknown) => failed.push(error));
  }
  return failed;
}

describe.each(DATABASES)('race scenarios on %s without a guard condition', (name: DatabaseName) => {
  describe.each(GUARDS)('with the options $auth', ({ auth, guards, onServers = {}, besidesRowLocks = {} }) => {
    const unlocked = Object.entries(besidesRowLocks).map(([title, [scenario, remove]]): [string, Guard] => [
      `${title}, and row locks`,
      [scenario, remove, removeRowLocks],
    ]);
    const needed = Object.entries(guards);
    if (name !== 'sqlite') needed.push(...Object.entries(onServers), ...unlocked);
    if (needed.length === 0) return;
    let environment: RaceEnvironment;
    beforeAll(async () => {
      environment = await RaceEnvironment.create(name, auth);
    });
    afterAll(() => environment.close());

    it.each(needed)('a race scenario fails without %s', async (title, [scenario, remove, alsoRemove]) => {
      // MySQL 9 does not need this lock, unlike MariaDB and PostgreSQL.
      if (name === 'mysql9' && title === LOGIN_LOCK) return;
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
