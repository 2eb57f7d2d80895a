import * as fc from 'fast-check';
import { AUTH_ENTITIES } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { commands } from './commands';
import { options } from './options';
import { assertReplayable } from './replay';
import { World } from './world';

describe.each(DATABASES)('alice, bob and carol do what they like on %s', (name) => {
  const runs = name === 'sqlite' ? 1_000 : 60;
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    const given = { ...database.options, entities: [...AUTH_ENTITIES], synchronize: true };
    dataSource = await new DataSource(given).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('and the library does what the reference says', async () => {
    const property = fc.asyncProperty(options, commands, async (given, steps) => {
      const world = await World.create(dataSource, given);
      try {
        await fc.asyncModelRun(() => world, steps);
      } finally {
        await world.real.close();
      }
    });
    await assertReplayable(property, runs);
  }, 600_000);
});
