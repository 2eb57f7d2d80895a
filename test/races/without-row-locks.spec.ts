import type { AuthModuleOptions } from 'nestjs-session-auth';
import { describeEachPooled } from '../support/databases';
import { RaceEnvironment } from './environment';
import { takeOutRowLocks } from './mutations';
import { ENDING_OPERATIONS, EVICTION } from './operations';
import {
  admissionAgainstAdmission,
  endOfInactiveAgainstActivity,
  failureAgainstFailure,
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

/** On two instances: what one of them has locked is then unknown to the other. */
const SETTINGS: readonly Setting[] = [
  { instances: 2, held: 'first' },
  { instances: 2, held: 'second' },
];

describeEachPooled('without the locks of rows that are read, on %s', (name) => {
  function holds(auth: AuthModuleOptions, scenarios: Readonly<Record<string, Scenario>>): void {
    let environment: RaceEnvironment;
    beforeAll(async () => {
      environment = await RaceEnvironment.create(name, auth, takeOutRowLocks);
    });
    afterAll(async () => {
      expect(environment.mutations).toBeGreaterThan(0);
      await environment.close();
    });
    describe.each(SETTINGS)('$held side held', (setting) => {
      it.each(Object.entries(scenarios))('%s', async (_, run) => {
        expect(await run(environment, setting)).toBeGreaterThan(0);
      });
    });
  }

  describe('every transition carries its condition', () => {
    holds(
      {},
      {
        ...Object.fromEntries(
          ENDING_OPERATIONS.map((operation) => [`a refresh beside ${operation.name}`, refreshAgainstEnd(operation)]),
        ),
        'a refresh beside the same refresh': refreshAgainstItself,
        'a refresh beside a password change in its session': refreshAgainstChangeInItsSession,
        'a refresh beside a reauthentication': refreshAgainstReauthentication,
        'a refresh beside pruning with a clock ahead': refreshAgainstPruning,
        'a logout beside pruning': logoutAgainstPruning,
        'a logout beside a deletion': logoutAgainstDelete,
        'two deletions of one session': deleteAgainstDelete,
        'two password changes': changeAgainstChange,
        'a login with the old password beside its change': loginAgainstChange,
        'a reuse beside a reauthentication': reuseAgainstReauthentication,
        'an end for inactivity beside activity': endOfInactiveAgainstActivity,
        'the removal of a user beside a deletion of a session': forgetAgainstDelete,
        'two attempts within one session': admissionAgainstAdmission,
        'two wrong passwords within one session': failureAgainstFailure,
        'pruning beside a failed login': pruningAgainstFailure,
        ...TICKET_SCENARIOS,
      },
    );
  });

  describe('under the policy `single`', () => {
    holds(
      { sessionPolicy: 'single' },
      {
        [`a refresh beside ${EVICTION.name}`]: refreshAgainstEnd(EVICTION),
        'the very first two logins of a user': loginAgainstLogin({ limit: 1, rejects: false, before: 0 }),
        'two more logins': loginAgainstLogin({ limit: 1, rejects: false, before: 1 }),
      },
    );
  });
});
