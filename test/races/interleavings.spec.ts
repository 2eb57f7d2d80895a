import type { AuthModuleOptions } from 'nestjs-session-auth';
import { DATABASES, type DatabaseName } from '../support/databases';
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

const WORDS = { first: 'the former', second: 'the latter' } as const;

/** On SQLite a unit of work is one call; elsewhere each statement is one, and on PostgreSQL a refresh has one. */
const FEWEST_CALLS: Readonly<Record<DatabaseName, number>> = { sqlite: 1, postgres: 1, mariadb: 4 };

/** Runs each scenario in every setting: in one instance and over two, each side held at every one of its calls. */
function inEverySetting(
  name: DatabaseName,
  auth: AuthModuleOptions,
  scenarios: Readonly<Record<string, Scenario>>,
  fewestCalls = FEWEST_CALLS[name],
): void {
  let environment: RaceEnvironment;
  beforeAll(async () => {
    environment = await RaceEnvironment.create(name, auth);
  });
  afterAll(() => environment.close());

  describe.each(SETTINGS)('in $instances instance(s), $held side held', (setting) => {
    it.each(Object.entries(scenarios))(`%s (${WORDS[setting.held]} held at every call)`, async (_, run) => {
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
          `a refresh beside ${operation.name}: the session has ended`,
          refreshAgainstEnd(operation),
        ]),
      ),
      'a refresh beside the same refresh: one pair, then reuse': refreshAgainstItself,
      'a refresh beside a password change in its session: the pair of the change is the live one':
        refreshAgainstChangeInItsSession,
      'a refresh beside a reauthentication: one of them gets the live pair': refreshAgainstReauthentication,
      'two reauthentications: one gets the live pair': reauthenticationAgainstItself,
      'two deletions of one session: one of them ends it': deleteAgainstDelete,
      'a logout beside a deletion: the first end stays stored': logoutAgainstDelete,
      'two password changes: one wins': changeAgainstChange,
      'a login with the old password beside its change: no session of it is left': loginAgainstChange,
      'a refresh beside pruning with a clock ahead: the session ends, or goes on with its pair': refreshAgainstPruning,
      'a logout beside pruning: the row is removed when its end says so': logoutAgainstPruning,
    },
  );
});

describe.each(DATABASES)('forced interleavings of logins in two steps on %s', (name) => {
  inEverySetting(name, {}, TICKET_SCENARIOS);
});

describe.each(DATABASES)('forced interleavings where a password change ends no session on %s', (name) => {
  inEverySetting(name, { revokeOnPasswordChange: false }, { 'two password changes: one wins': changeAgainstChange });
});

describe.each(DATABASES)('forced interleavings within a grace period on %s', (name) => {
  inEverySetting(
    name,
    { refreshReuseGraceSeconds: 10 },
    {
      'a refresh beside the same refresh: one pair for both': refreshAgainstItsRepetition,
      'a replay from another network beside the first use: it comes before it, or is reuse': replayAgainstFirstUse,
      'a replay beside the exchange of its pair: it comes before it, or is reuse': replayAgainstRefresh,
      'the first use of a pair beside its exchange: its successor counts as unused': firstUseAgainstRefresh,
      'two replays where one is left: one gets the pair': replayAgainstReplayAtTheLimit,
      'a replay beside a logout: the session has ended': replayAgainstEnd(LOGOUT),
    },
    // A first use is one read and one update.
    Math.min(FEWEST_CALLS[name], 2),
  );
});

describe.each(DATABASES)('forced interleavings over cookies on %s', (name) => {
  inEverySetting(
    name,
    { cookies: { mode: 'optional' } },
    {
      'two tabs that present one pair: one of them rotates it, and both get the next one': wakingTabs,
      'a tab that presents a pair just issued beside its rotation: it gets that pair or the next one':
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
      [`a refresh beside ${EVICTION.name}: the session has ended`]: refreshAgainstEnd(EVICTION),
      'the very first two logins of a user: one session': loginAgainstLogin({ ...one, before: 0 }),
      'two more logins: one session': loginAgainstLogin({ ...one, before: 1 }),
    },
  );
});

describe.each(DATABASES)('forced interleavings under the policy `max_count` on %s', (name) => {
  inEverySetting(
    name,
    { sessionPolicy: 'max_count', maxSessions: 3 },
    { 'two logins with room for one: three sessions': loginAgainstLogin({ limit: 3, before: 2, rejects: false }) },
  );
});

describe.each(DATABASES)('forced interleavings at a limit that rejects on %s', (name) => {
  inEverySetting(
    name,
    { sessionPolicy: 'max_count', maxSessions: 3, onSessionLimit: 'reject' },
    {
      'two logins with room for one: one is refused': loginAgainstLogin({ limit: 3, before: 2, rejects: true }),
      'the very first two logins of a user: both get a session': loginAgainstLogin({
        limit: 3,
        before: 0,
        rejects: true,
      }),
    },
  );
});
