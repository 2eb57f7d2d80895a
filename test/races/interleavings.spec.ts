import type { AuthModuleOptions } from 'nestjs-session-auth';
import { type DatabaseName, DATABASES, type Dialect, DIALECTS } from '../support/databases';
import { RaceEnvironment } from './environment';
import { ENDING_OPERATIONS, EVICTION, LOGOUT } from './operations';
import {
  changeAgainstChange,
  deleteAgainstDelete,
  firstUseAgainstRefresh,
  loginAgainstChange,
  loginAgainstLogin,
  logoutAgainstDelete,
  logoutAgainstPruning,
  reauthenticationAgainstItself,
  refreshAgainstChangeInItsSession,
  refreshAgainstEnd,
  refreshAgainstItself,
  refreshAgainstItsRepetition,
  refreshAgainstPruning,
  refreshAgainstReauthentication,
  replayAgainstEnd,
  replayAgainstFirstUse,
  replayAgainstRefresh,
  replayAgainstReplayAtTheLimit,
  wakingTabAgainstRotation,
  wakingTabs,
  type Scenario,
  type Setting,
} from './scenarios';
import { TICKET_SCENARIOS } from './ticket-scenarios';

const SETTINGS: readonly Setting[] = [
  { instances: 1, held: 'first' },
  { instances: 1, held: 'second' },
  { instances: 2, held: 'first' },
  { instances: 2, held: 'second' },
];

const OPERATIONS = { first: 'the first operation', second: 'the second operation' } as const;

/**
 * The minimum number of calls of an operation. On SQLite a call is a whole transaction, and on other databases a
 * call is a statement. On PostgreSQL a refresh consists of one statement.
 */
const FEWEST_CALLS: Readonly<Record<Dialect, number>> = { sqlite: 1, postgres: 1, mysql: 4 };

/** Runs each scenario in one instance and over two. Each of the two operations is paused before each of its calls. */
function inEverySetting(
  name: DatabaseName,
  auth: AuthModuleOptions,
  scenarios: Readonly<Record<string, Scenario>>,
  fewestCalls = FEWEST_CALLS[DIALECTS[name]],
): void {
  let environment: RaceEnvironment;
  beforeAll(async () => {
    environment = await RaceEnvironment.create(name, auth);
  });
  afterAll(() => environment.close());

  describe.each(SETTINGS)('in $instances instance(s), with the $held operation paused', (setting) => {
    it.each(Object.entries(scenarios))(`%s (${OPERATIONS[setting.held]} is paused at every call)`, async (_, run) => {
      expect(await run(environment, setting)).toBeGreaterThanOrEqual(fewestCalls);
    });
  });
}

describe.each(DATABASES)('forced interleavings on %s', (name) => {
  inEverySetting(
    name,
    {},
    {
      ...Object.fromEntries(
        ENDING_OPERATIONS.map((operation) => [
          `a refresh during ${operation.name} leaves the session ended`,
          refreshAgainstEnd(operation),
        ]),
      ),
      'two refreshes with one token return one pair, and the second refresh is reuse': refreshAgainstItself,
      'a refresh during a password change in its session leaves the pair of the password change current':
        refreshAgainstChangeInItsSession,
      'only one of a refresh and a reauthentication returns the current pair': refreshAgainstReauthentication,
      'only one of two reauthentications returns the current pair': reauthenticationAgainstItself,
      'only one of two deletions of a session ends the session': deleteAgainstDelete,
      'a logout during a deletion of the session does not replace the stored end': logoutAgainstDelete,
      'only one of two password changes succeeds': changeAgainstChange,
      'a login with the old password during a password change leaves no session': loginAgainstChange,
      'a session that is refreshed during pruning by a clock that is ahead ends if and only if the refresh fails':
        refreshAgainstPruning,
      'a logout during pruning schedules the deletion of the row for 90 days after the login': logoutAgainstPruning,
    },
  );
});

describe.each(DATABASES)('forced interleavings of logins in two steps on %s', (name) => {
  inEverySetting(
    name,
    {},
    Object.fromEntries(Object.entries(TICKET_SCENARIOS).map(([title, run]) => [`${title} keeps its guarantees`, run])),
  );
});

describe.each(DATABASES)('forced interleavings where a password change ends no session on %s', (name) => {
  inEverySetting(
    name,
    { revokeOnPasswordChange: false },
    { 'only one of two password changes succeeds': changeAgainstChange },
  );
});

describe.each(DATABASES)('forced interleavings within a grace period on %s', (name) => {
  inEverySetting(
    name,
    { refreshReuseGraceSeconds: 10 },
    {
      'two refreshes with one token return the same pair': refreshAgainstItsRepetition,
      'a replay from another network during the first use of the pair precedes the first use, or is reuse':
        replayAgainstFirstUse,
      'a replay during the refresh of its pair precedes the refresh, or is reuse': replayAgainstRefresh,
      'the first use of a pair during its refresh does not mark the next pair as used': firstUseAgainstRefresh,
      'only one of two replays at the limit of replays returns the pair': replayAgainstReplayAtTheLimit,
      'a replay during a logout leaves the session ended': replayAgainstEnd(LOGOUT),
    },
    // The first use of a token causes one read and one update.
    Math.min(FEWEST_CALLS[DIALECTS[name]], 2),
  );
});

describe.each(DATABASES)('forced interleavings over cookies on %s', (name) => {
  inEverySetting(
    name,
    { cookies: { mode: 'optional' } },
    {
      'one of two tabs with the same pair rotates the pair, and both tabs receive the next pair': wakingTabs,
      'a tab that presents a pair during its rotation receives the same pair or the next pair':
        wakingTabAgainstRotation,
    },
    1,
  );
});

describe.each(DATABASES)('forced interleavings under the policy `single` on %s', (name) => {
  const one = { limit: 1, rejects: false };
  inEverySetting(
    name,
    { sessionPolicy: 'single' },
    {
      [`a refresh during ${EVICTION.name} leaves the session ended`]: refreshAgainstEnd(EVICTION),
      'the first two logins of a user leave one session': loginAgainstLogin({ ...one, before: 0 }),
      'two further logins of a user leave one session': loginAgainstLogin({ ...one, before: 1 }),
    },
  );
});

describe.each(DATABASES)('forced interleavings under the policy `max_count` on %s', (name) => {
  inEverySetting(
    name,
    { sessionPolicy: 'max_count', maxSessions: 3 },
    {
      'two logins with one free slot leave three sessions': loginAgainstLogin({ limit: 3, before: 2, rejects: false }),
    },
  );
});

describe.each(DATABASES)('forced interleavings at a limit that rejects on %s', (name) => {
  inEverySetting(
    name,
    { sessionPolicy: 'max_count', maxSessions: 3, onSessionLimit: 'reject' },
    {
      'one of two logins with one free slot is refused': loginAgainstLogin({ limit: 3, before: 2, rejects: true }),
      'the first two logins of a user both open a session': loginAgainstLogin({
        limit: 3,
        before: 0,
        rejects: true,
      }),
    },
  );
});
