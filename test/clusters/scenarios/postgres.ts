import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresCluster, type PostgresSetup } from '../postgres-cluster';
import type { Scenario } from '../scenario';
import type { Fault } from '../storm';
import { FLAP, frozen, stormsOn } from '../storm-scenario';

const onPostgres = stormsOn<PostgresCluster, PostgresSetup>('PostgreSQL', (workspace, setup) =>
  PostgresCluster.start(workspace, setup),
);

/** Kills the primary as a power failure does, and promotes the standby some time later. */
function failover(afterMs: number): Fault<PostgresCluster> {
  return async ({ primary, standby }) => {
    await primary.kill();
    await sleep(afterMs);
    await standby.promote();
  };
}

/** Shuts the primary down, and makes it the standby of the former standby. */
async function switchover({ primary, standby }: PostgresCluster): Promise<void> {
  await primary.stop();
  await standby.promote();
  await primary.rejoin(standby);
  await standby.waitFor(primary);
}

export const POSTGRES_SCENARIOS: readonly Scenario[] = [
  ...[6, 12].map((seconds) =>
    onPostgres(
      `standby-away-${seconds}`,
      `the synchronous standby hangs for ${seconds} s`,
      frozen(({ standby }) => standby.daemon, seconds),
    ),
  ),
  onPostgres(
    'primary-frozen',
    'the primary hangs for 8 s',
    frozen(({ primary }) => primary.daemon, 8),
  ),
  onPostgres(
    'network-hangs',
    'HAProxy forwards nothing for 8 s',
    frozen(({ haproxy }) => haproxy.daemon, 8),
  ),
  ...[3, 10].map((seconds) =>
    onPostgres(
      `failover-${seconds}`,
      `the primary is killed, and the standby promoted after ${seconds} s`,
      failover(seconds * 1_000),
      { isShort: seconds === 3 },
    ),
  ),
  onPostgres(
    'failover-pgbouncer',
    'the primary is killed, and the standby promoted after 3 s, through PgBouncer in transaction mode',
    failover(3_000),
    { setup: { hasPgBouncer: true } },
  ),
  onPostgres(
    'switchover',
    'the primary is shut down, the standby promoted, and the old primary becomes its synchronous standby',
    switchover,
  ),
  ...[1, 7].map((seconds) =>
    onPostgres(
      `read-only-flap-${seconds}`,
      `HAProxy without role checks routes to the standby for ${seconds} s`,
      (cluster) => cluster.flap(seconds * 1_000),
      { setup: { ignoresRoles: true }, aims: FLAP },
    ),
  ),
];
