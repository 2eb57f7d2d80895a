import type { AuthModuleOptions } from 'nestjs-session-auth';
import { DATABASES } from '../support/databases';
import { RaceEnvironment } from './environment';
import type { Scenario, Setting } from './scenarios';
import { openingAgainstOpeningAtTheLimit, openingAgainstProof, TICKET_ENDS } from './ticket-end-scenarios';

const SETTINGS: readonly Setting[] = [
  { instances: 2, held: 'first' },
  { instances: 2, held: 'second' },
];

const OPERATIONS = { first: 'the first operation', second: 'the second operation' } as const;

const SCENARIOS: readonly [title: string, auth: AuthModuleOptions, Readonly<Record<string, Scenario>>][] = [
  [
    'of login tickets',
    {},
    { ...TICKET_ENDS, 'a session opened during the proof of another method has this method': openingAgainstProof },
  ],
  [
    'of login tickets at a limit that rejects',
    { sessionPolicy: 'max_count', maxSessions: 3, onSessionLimit: 'reject' },
    {
      'if one slot is free, the refused one of two openings does not consume its ticket':
        openingAgainstOpeningAtTheLimit,
    },
  ],
];

describe.each(DATABASES)('forced interleavings on %s', (name) => {
  describe.each(SCENARIOS)('%s', (_, auth, scenarios) => {
    let environment: RaceEnvironment;
    beforeAll(async () => {
      environment = await RaceEnvironment.create(name, auth);
    });
    afterAll(() => environment.close());

    describe.each(SETTINGS)('over two instances, with the $held operation paused', (setting) => {
      it.each(Object.entries(scenarios))(
        `%s (${OPERATIONS[setting.held]} is paused at every call)`,
        async (__, run) => {
          expect(await run(environment, setting)).toBeGreaterThanOrEqual(1);
        },
      );
    });
  });
});
