import type { AuthModuleOptions } from 'nestjs-session-auth';
import { DATABASES } from '../support/databases';
import { OVER_TWO_INSTANCES, RaceEnvironment, type Scenario, type Setting } from './environment';
import { ENDING_OPERATIONS, EVICTION, LOGOUT } from './operations';
import { removeRowLocks } from './mutations';
import { ROW_LOCK_SCENARIOS } from './row-lock-scenarios';
import * as races from './scenarios';
import { openingAgainstOpeningAtTheLimit, TICKET_SCENARIOS } from './ticket-scenarios';

const SETTINGS: readonly Setting[] = [
  { instances: 1, held: 'first' },
  { instances: 1, held: 'second' },
  ...OVER_TWO_INSTANCES,
];

type Scenarios = Readonly<Record<string, Scenario>>;

interface Group {
  readonly title: string;
  readonly auth: AuthModuleOptions;
  readonly scenarios: Scenarios;
  /** Further scenarios that are run without row locks only. */
  readonly withoutLocks?: Scenarios;
  /** Whether the operations lock no rows, so that nothing can be removed. */
  readonly locksNothing?: boolean;
}

const GROUPS: readonly Group[] = [
  {
    title: 'by default',
    auth: {},
    scenarios: {
      ...Object.fromEntries(
        ENDING_OPERATIONS.map((operation) => [
          `a refresh during ${operation.name} leaves the session ended`,
          races.refreshAgainstEnd(operation),
        ]),
      ),
      'two refreshes with one token return one pair, and the second refresh is reuse': races.refreshAgainstItself,
      'a refresh during a password change in its session leaves the pair of the password change current':
        races.refreshAgainstChangeInItsSession,
      'only one of a refresh and a reauthentication returns the current pair': races.refreshAgainstReauthentication,
      'only one of two reauthentications returns the current pair': races.reauthenticationAgainstItself,
      'only one of a logout and a deletion of the session ends the session': races.logoutAgainstDelete,
      'only one of two password changes succeeds': races.changeAgainstChange,
      'a login with the old password during a password change leaves no session': races.loginAgainstChange,
      'a session that is refreshed during pruning by a clock that is ahead ends if and only if the refresh fails':
        races.refreshAgainstPruning,
      ...TICKET_SCENARIOS,
    },
    withoutLocks: ROW_LOCK_SCENARIOS,
  },
  {
    title: 'where a password change ends no session',
    auth: { revokeOnPasswordChange: false },
    scenarios: { 'only one of two password changes succeeds': races.changeAgainstChange },
  },
  {
    title: 'within a grace period',
    auth: { refreshReuseGraceSeconds: 10 },
    scenarios: {
      'two refreshes with one token return the same pair': races.refreshAgainstItsRepetition,
      'a replay from another network during the first use of the pair precedes the first use, or is reuse':
        races.replayAgainstFirstUse,
      'a replay during the refresh of its pair precedes the refresh, or is reuse': races.replayAgainstRefresh,
      'the first use of a pair during its refresh does not mark the next pair as used': races.firstUseAgainstRefresh,
      'only one of two replays at the limit of replays returns the pair': races.replayAgainstReplayAtTheLimit,
      'a replay during a logout leaves the session ended': races.replayAgainstEnd(LOGOUT),
    },
  },
  {
    title: 'over cookies',
    auth: { cookies: { mode: 'optional' } },
    locksNothing: true,
    scenarios: {
      'one of two tabs with the same pair rotates the pair, and both tabs receive the next pair': races.wakingTabs,
      'a tab that presents a pair during its rotation receives the same pair or the next pair':
        races.wakingTabAgainstRotation,
    },
  },
  {
    title: 'under the policy `single`',
    auth: { sessionPolicy: 'single' },
    scenarios: {
      [`a refresh during ${EVICTION.name} leaves the session ended`]: races.refreshAgainstEnd(EVICTION),
      'the first two logins of a user leave one session': races.loginAgainstLogin(1, 0),
      'two further logins of a user leave one session': races.loginAgainstLogin(1, 1),
    },
  },
  {
    title: 'under the policy `max_count`',
    auth: { sessionPolicy: 'max_count', maxSessions: 3 },
    scenarios: {
      'two logins with one free slot leave three sessions': races.loginAgainstLogin(3, 2),
      'a session that is refreshed during a login by a clock that is ahead ends if and only if the refresh fails':
        races.refreshAgainstLoginAtTheLimit,
    },
  },
  {
    title: 'at a limit that rejects',
    auth: { sessionPolicy: 'max_count', maxSessions: 3, onSessionLimit: 'reject' },
    scenarios: {
      'one of two logins with one free slot is refused': races.loginAgainstLogin(3, 2, true),
      'the first two logins of a user both open a session': races.loginAgainstLogin(3, 0, true),
      'if one slot is free, the refused one of two openings does not consume its ticket':
        openingAgainstOpeningAtTheLimit,
    },
  },
];

/** Returns the scenarios of a setting. In a symmetric scenario, holding the second operation would repeat the first. */
const scenariosIn = ({ held }: Setting, scenarios: Scenarios): [title: string, run: Scenario][] =>
  Object.entries(scenarios).filter(([, { isSymmetric }]) => held === 'first' || !isSymmetric);

describe.each(DATABASES)('forced interleavings on %s', (name) => {
  describe.each(GROUPS)('$title', ({ auth, scenarios, withoutLocks = {}, locksNothing = false }) => {
    let environment: RaceEnvironment;
    beforeAll(async () => {
      environment = await RaceEnvironment.create(name, auth);
    });
    afterAll(() => environment.close());

    describe.each(SETTINGS)('in $instances instance(s)', (setting) => {
      for (const [title, run] of scenariosIn(setting, scenarios)) {
        it(`${title} (the ${setting.held} operation is paused at every call)`, async () => {
          expect(await run(environment, setting)).toBeGreaterThan(0);
        });
      }
    });

    if (name === 'sqlite' || locksNothing) return;
    describe('without row locks', () => {
      beforeAll(() => environment.mutate(removeRowLocks));
      for (const setting of OVER_TWO_INSTANCES) {
        for (const [title, run] of scenariosIn(setting, { ...scenarios, ...withoutLocks })) {
          it(`${title} (without row locks, the ${setting.held} operation is paused at every call)`, async () => {
            expect(await run(environment, setting)).toBeGreaterThan(0);
          });
        }
      }
      afterAll(() => expect(environment.mutations).toBeGreaterThan(0));
    });
  });
});
