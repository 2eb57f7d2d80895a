import { withAuthTables } from 'nestjs-session-auth';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { SystemClock } from '../../libs/auth/src/base/clock';
import { takeSnapshot, violations, type Holder } from '../crash/checker';
import { Instance } from '../properties/instance';
import { optionsOf, type Cluster } from './cluster';
import { PASSWORD } from './storm-clients';

const SETTLING_MS = 15_000;

/** Creates the tables and the users. */
export function prepare(cluster: Cluster, usernames: readonly string[]): Promise<void> {
  return withInstance(cluster, async ({ auth }) => {
    for (const username of usernames) await auth.createUser({ username, password: PASSWORD });
  });
}

/**
 * Waits until all transactions have ended. Returns the inconsistencies in the tables, and the users for whom
 * reuse was recorded.
 */
export function inspect(cluster: Cluster, holders: readonly Holder[]) {
  return withInstance(cluster, async (_, dataSource) => {
    const until = performance.now() + SETTLING_MS;
    let found = violations(await takeSnapshot(dataSource), holders);
    while (found.length > 0 && performance.now() < until) {
      await sleep(500);
      found = violations(await takeSnapshot(dataSource), holders);
    }
    const alarms: { username: string }[] = await dataSource.query(
      `SELECT u.username FROM auth_events e JOIN auth_users u ON u.id = e.user_id WHERE e.event = 'token_reuse'`,
    );
    return { violations: found, alarmed: alarms.map(({ username }) => username) };
  });
}

/** Ends all sessions, as an administrator does after lost commits. */
export async function endEverySession(cluster: Cluster): Promise<void> {
  await withInstance(cluster, ({ administration }) =>
    administration.end({ everyone: true }, { actor: 'carol (lost commits)' }),
  );
}

/** Starts another instance of the library. */
async function withInstance<T>(cluster: Cluster, work: (instance: Instance, dataSource: DataSource) => Promise<T>) {
  const options = withAuthTables({ ...optionsOf(cluster), migrationsRun: true });
  const dataSource = await new DataSource(options).initialize();
  const instance = await Instance.create(dataSource, new SystemClock(), cluster.auth ?? {}, []);
  try {
    return await work(instance, dataSource);
  } finally {
    await instance.stop();
    await dataSource.destroy();
  }
}
