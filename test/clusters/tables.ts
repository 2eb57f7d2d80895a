import { AUTH_ENTITIES, AUTH_MIGRATIONS, AuthModule, AuthService, SessionAdministration } from 'nestjs-session-auth';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { takeSnapshot, violations, type Holder } from '../crash/checker';
import { optionsOf, type Cluster } from './cluster';
import { PASSWORD } from './storm-clients';

const SETTLING_MS = 15_000;

/** Creates the tables and the users. */
export function prepare(cluster: Cluster, usernames: readonly string[]): Promise<void> {
  return withApplication(cluster, async (app) => {
    for (const username of usernames) await app.get(AuthService).createUser({ username, password: PASSWORD });
  });
}

/**
 * Waits until all transactions have ended. Returns the inconsistencies in the tables, and the users for whom
 * reuse was recorded.
 */
export function inspect(cluster: Cluster, holders: readonly Holder[]) {
  return withApplication(cluster, async (app) => {
    const dataSource = app.get(DataSource);
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
  await withApplication(cluster, (app) =>
    app.get(SessionAdministration).end({ everyone: true }, { actor: 'carol (lost commits)' }),
  );
}

/** Starts another instance of the application, without HTTP. */
async function withApplication<T>(cluster: Cluster, work: (app: INestApplicationContext) => Promise<T>): Promise<T> {
  const tables = { entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS], migrationsRun: true };
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...optionsOf(cluster), ...tables }),
      EventEmitterModule.forRoot(),
      AuthModule.forRoot({ bcryptCost: 4, pruneIntervalSeconds: false, ...cluster.auth }),
    ],
  })
  class ApplicationModule {}
  const app = await NestFactory.createApplicationContext(ApplicationModule, { logger: ['error'] });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}
