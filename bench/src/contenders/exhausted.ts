import { DataSource } from 'typeorm';
import { timesAsync, type MakeContender } from './contender';
import { make as makeGuard } from './guard';

/** The size of the pool of `pg` and of `mysql2`. */
const POOL_SIZE = 10;

/** The library in an application that holds every connection of its own pool. */
export const make: MakeContender = async (setup) => {
  const guard = await makeGuard(setup);
  return {
    ...guard,
    async credentials(app) {
      const headers = await guard.credentials(app);
      await timesAsync(POOL_SIZE, () => app.get(DataSource).createQueryRunner().connect() as Promise<unknown>);
      return headers;
    },
  };
};
