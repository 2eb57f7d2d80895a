import { AUTH_ENTITIES, AUTH_MIGRATIONS, AuthModule, SessionAdministration } from 'nestjs-session-auth';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { SystemClock } from '../../libs/auth/src/base/clock';
import { takeSnapshot, violations, type Holder } from '../crash/checker';
import { Instance } from '../properties/instance';
import { optionsOf, type Cluster } from './cluster';
import { PASSWORD } from './storm-clients';

const SETTLING_MS = 15_000;

export async function prepare(cluster: Cluster, usernames: readonly string[]): Promise<void> {
  await withDataSource(cluster, async (dataSource) => {
    await dataSource.runMigrations();
    const { auth } = await Instance.create(dataSource, new SystemClock(), {}, []);
    for (const username of usernames) await auth.createUser({ username, password: PASSWORD });
  });
}

/**
 * Waits until all transactions have ended. Returns the inconsistencies in the tables, and the users for whom
 * reuse was recorded.
 */
export async function inspect(cluster: Cluster, holders: readonly Holder[]) {
  return withDataSource(cluster, async (dataSource) => {
    const until = performance.now() + SETTLING_MS;
    let found: string[];
    do {
      found = violations(await takeSnapshot(dataSource), holders);
      if (found.length > 0) await sleep(500);
    } while (found.length > 0 && performance.now() < until);
    const alarms: { username: string }[] = await dataSource.query(
      `SELECT u.username FROM auth_events e JOIN auth_users u ON u.id = e.user_id WHERE e.event = 'token_reuse'`,
    );
    return { violations: found, alarmed: alarms.map(({ username }) => username) };
  });
}

/** Ends all sessions, as an administrator does after lost commits. */
export async function endEverySession(cluster: Cluster): Promise<void> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...optionsOf(cluster), entities: [...AUTH_ENTITIES] }),
      EventEmitterModule.forRoot(),
      AuthModule.forRoot({ pruneIntervalSeconds: false }),
    ],
  })
  class AdministrationModule {}
  const app = await NestFactory.createApplicationContext(AdministrationModule, { logger: ['error'] });
  try {
    await app.get(SessionAdministration).end({ everyone: true }, { actor: 'carol (lost commits)' });
  } finally {
    await app.close();
  }
}

async function withDataSource<T>(cluster: Cluster, work: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const options = { ...optionsOf(cluster), entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
  const dataSource = await new DataSource(options).initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
