import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresCluster, type PostgresSetup } from '../postgres-cluster';
import type { Scenario } from '../scenario';
import type { Fault } from '../storm';
import { FLAP, stormsOn } from '../storm-scenario';

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

function standbyAway(forMs: number): Fault<PostgresCluster> {
  return async ({ standby }) => {
    standby.freeze();
    await sleep(forMs);
    standby.thaw();
  };
}

export const POSTGRES_SCENARIOS: readonly Scenario[] = [
  onPostgres({
    name: 'standby-away-6',
    title: 'the synchronous standby hangs for 6 s',
    fault: standbyAway(6_000),
  }),
  onPostgres({
    name: 'standby-away-12',
    title: 'the synchronous standby hangs for 12 s',
    fault: standbyAway(12_000),
  }),
  onPostgres({
    name: 'primary-frozen',
    title: 'the primary hangs for 8 s',
    async fault({ primary }) {
      primary.freeze();
      await sleep(8_000);
      primary.thaw();
    },
  }),
  onPostgres({
    name: 'network-hangs',
    title: 'HAProxy forwards nothing for 8 s',
    async fault({ haproxy }) {
      haproxy.freeze();
      await sleep(8_000);
      haproxy.thaw();
    },
  }),
  onPostgres({
    name: 'failover-3',
    title: 'the primary is killed, and the standby promoted after 3 s',
    isShort: true,
    fault: failover(3_000),
  }),
  onPostgres({
    name: 'failover-10',
    title: 'the primary is killed, and the standby promoted after 10 s',
    fault: failover(10_000),
  }),
  onPostgres({
    name: 'failover-pgbouncer',
    title: 'the primary is killed, and the standby promoted after 3 s, through PgBouncer in transaction mode',
    setup: { hasPgBouncer: true },
    fault: failover(3_000),
  }),
  onPostgres({
    name: 'switchover',
    title: 'the primary is shut down, the standby promoted, and the old primary becomes its synchronous standby',
    async fault({ primary, standby }) {
      await primary.stop();
      await standby.promote();
      await primary.rejoin(standby);
      await standby.waitFor(primary);
    },
  }),
  ...[1, 7].map((seconds) =>
    onPostgres({
      name: `read-only-flap-${seconds}`,
      title: `HAProxy without role checks routes to the standby for ${seconds} s`,
      setup: { ignoresRoles: true },
      aims: FLAP,
      fault: (cluster) => cluster.flap(seconds * 1_000),
    }),
  ),
];
