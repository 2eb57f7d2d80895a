import * as fc from 'fast-check';
import { AUTH_ENTITIES } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { action, options } from './actions';
import { World } from './world';

/** A run that failed tells its seed and path: MODEL_SEED=... MODEL_PATH=... runs it again. MODEL_RUNS is for more of them. */
const { MODEL_SEED, MODEL_PATH, MODEL_RUNS } = process.env;

describe.each(DATABASES)('whatever is done, in whatever order, on %s', (name) => {
  const runs = Number(MODEL_RUNS ?? (name === 'sqlite' ? 1_000 : 200));
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

  it(`the library does what the model says (${runs} runs)`, async () => {
    const property = fc.asyncProperty(
      options,
      fc.array(action, { maxLength: 40, size: 'max' }),
      async (given, actions) => {
        const world = await World.create(dataSource, given);
        try {
          for (const one of actions) await world.step(one);
        } finally {
          await world.close();
        }
      },
    );
    await fc.assert(property, {
      numRuns: runs,
      ...(MODEL_SEED ? { seed: Number(MODEL_SEED) } : {}),
      ...(MODEL_PATH ? { path: MODEL_PATH } : {}),
    });
  }, 300_000);
});
