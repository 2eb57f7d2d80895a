import type { AuthModuleOptions } from 'nestjs-session-auth';
import { describeEachPooled } from '../support/databases';
import { RaceEnvironment } from './environment';
import { removeRowLocks } from './mutations';
import { ENDING_OPERATIONS, EVICTION } from './operations';
import {
  attemptAgainstAttemptAtTheLimit,
  attemptAgainstSuccess,
  endOfInactiveAgainstActivity,
  forgetAgainstDelete,
  pruningAgainstFailure,
  reuseAgainstReauthentication,
} from './row-lock-scenarios';
import {
  changeAgainstChange,
  deleteAgainstDelete,
  loginAgainstChange,
  loginAgainstLogin,
  logoutAgainstDelete,
  logoutAgainstPruning,
  refreshAgainstChangeInItsSession,
  refreshAgainstEnd,
  refreshAgainstItself,
  refreshAgainstPruning,
  refreshAgainstReauthentication,
  type Scenario,
  type Setting,
} from './scenarios';
import { TICKET_SCENARIOS } from './ticket-scenarios';

/** Two instances, because an instance does not know the locks that another instance holds. */
const SETTINGS: readonly Setting[] = [
  { instances: 2, held: 'first' },
  { instances: 2, held: 'second' },
];

describeEachPooled('concurrent operations without row locks on %s', (name) => {
  function holds(auth: AuthModuleOptions, scenarios: Readonly<Record<string, Scenario>>): void {
    let environment: RaceEnvironment;
    beforeAll(async () => {
      environment = await RaceEnvironment.create(name, auth, removeRowLocks);
    });
    afterAll(async () => {
      expect(environment.mutations).toBeGreaterThan(0);
      await environment.close();
    });
    describe.each(SETTINGS)('with the $held operation paused', (setting) => {
      it.each(Object.entries(scenarios))('%s keeps its guarantees', async (_, run) => {
        expect(await run(environment, setting)).toBeGreaterThan(0);
      });
    });
  }

  describe('with a guard condition in every transition', () => {
    holds(
      {},
      {
        ...Object.fromEntries(
          ENDING_OPERATIONS.map((operation) => [`a refresh during ${operation.name}`, refreshAgainstEnd(operation)]),
        ),
        'a refresh during a refresh with the same token': refreshAgainstItself,
        'a refresh during a password change in its session': refreshAgainstChangeInItsSession,
        'a refresh during a reauthentication': refreshAgainstReauthentication,
        'a refresh during pruning by a clock that is ahead': refreshAgainstPruning,
        'a logout during pruning': logoutAgainstPruning,
        'a logout during a deletion of the session': logoutAgainstDelete,
        'two deletions of one session': deleteAgainstDelete,
        'two password changes': changeAgainstChange,
        'a login with the old password during its change': loginAgainstChange,
        'reuse during a reauthentication': reuseAgainstReauthentication,
        'an end for inactivity during activity': endOfInactiveAgainstActivity,
        'forgetting a user during a deletion of a session': forgetAgainstDelete,
        'two attempts, of which one reaches the limit': attemptAgainstAttemptAtTheLimit,
        'an attempt during a success': attemptAgainstSuccess,
        'pruning during a failed login': pruningAgainstFailure,
        ...TICKET_SCENARIOS,
      },
    );
  });

  describe('under the policy `single`', () => {
    holds(
      { sessionPolicy: 'single' },
      {
        [`a refresh during ${EVICTION.name}`]: refreshAgainstEnd(EVICTION),
        'the first two logins of a user': loginAgainstLogin({ limit: 1, rejects: false, before: 0 }),
        'two further logins': loginAgainstLogin({ limit: 1, rejects: false, before: 1 }),
      },
    );
  });
});
