import * as fc from 'fast-check';
import { AUTH_ENTITIES } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { action, configurations } from './actions';
import { Environment } from './environment';

/**
 * A failed run prints its seed and path. `MODEL_SEED=... MODEL_PATH=...` repeats it. `MODEL_RUNS` sets the
 * number of runs.
 */
const { MODEL_SEED, MODEL_PATH, MODEL_RUNS } = process.env;

// The limit is low enough for random actions to reach it.
jest.mock('../../libs/auth/src/sessions/end-sessions', () => ({
  ...jest.requireActual<object>('../../libs/auth/src/sessions/end-sessions'),
  SESSION_LIMIT: 3,
}));

describe.each(DATABASES)('any sequence of actions on %s', (name) => {
  const runs = Number(MODEL_RUNS ?? (name === 'sqlite' ? 400 : 80));
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    dataSource = await new DataSource({
      ...database.options,
      entities: [...AUTH_ENTITIES],
      synchronize: true,
    }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it(`results, rows, events and signals match the model (${runs} runs)`, async () => {
    const property = fc.asyncProperty(
      configurations,
      fc.array(action, { maxLength: 40, size: 'max' }),
      async (configuration, actions) => {
        const environment = await Environment.create(dataSource, configuration);
        try {
          for (const one of actions) await environment.step(one);
        } finally {
          await environment.close();
        }
      },
    );
    await fc.assert(property, {
      numRuns: runs,
      ...(MODEL_SEED ? { seed: Number(MODEL_SEED) } : {}),
      ...(MODEL_PATH ? { path: MODEL_PATH } : {}),
    });
  }, 3_600_000);
});
