import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster';
import { startGalera, startGroup, type GaleraCluster, type GaleraSetup, type GroupCluster } from './mysql';
import { primaryOf, startPatroni, untilWritable, type PatroniMember } from './patroni';
import { startPostgres, type PostgresCluster } from './postgres';
import type { Scenario } from './scenario';
import { storm, type Fault, type StormTargets } from './storm';
import type { Workspace } from './workspace';

/** If connections lead to a server that accepts no writes. Clients with a `Retry-After` of 5 s return first. */
const FLAP: StormTargets = {
  '503 after': 49,
  'recovery of the first client, s': 2,
  'recovery of all clients, s': 7,
};
/** If an instance may not yet know a change that another instance has confirmed. */
const STALE: StormTargets = { 'wrong responses': Infinity, spread: { 'sessions lost': Infinity } };

/** Creates scenarios in which clients refresh their sessions while a cluster fails. */
function stormsOn<C extends Cluster, Setup>(
  cluster: Scenario['cluster'],
  start: (workspace: Workspace, setup?: Setup) => Promise<C>,
) {
  return (
    name: string,
    title: string,
    fault: Fault<C>,
    { setup, targets, ...more }: { isShort?: boolean; setup?: Setup; targets?: StormTargets } = {},
  ): Scenario => ({
    ...{ name, title, cluster, ...more },
    run: async (workspace) => (await storm(workspace, await start(workspace, setup), fault, targets)).outcomes,
  });
}

const onPostgres = stormsOn('PostgreSQL', startPostgres);
const onGalera = stormsOn('Galera', startGalera);
const onGroup = stormsOn('Group Replication', startGroup);

function onPatroni(name: string, title: string, breakPrimary: (primary: PatroniMember) => Promise<void>): Scenario {
  return stormsOn('Patroni', startPatroni)(name, title, async (cluster) => {
    await breakPrimary(await primaryOf(cluster));
    await untilWritable(cluster);
  });
}

/** Kills the primary as a power failure does, and promotes the standby some time later. */
function failover(afterMs: number): Fault<PostgresCluster> {
  return async ({ nodes: [primary, standby] }) => {
    await primary.kill();
    await sleep(afterMs);
    await standby.promote();
  };
}

async function killThird({ nodes: [first, , third] }: GaleraCluster | GroupCluster): Promise<void> {
  await third.kill();
  await first.untilSize(2);
}

const WRITER = 'the node of the first instance';
const ISOLATED = 'loses the other nodes for 8 s, but keeps its clients';
const KILLED = 'a node without clients is killed; the others wait 5 s for it';
const SEVERAL = 'of three primaries, two have instances, and the third is killed; consistency `BEFORE`';
/** With `wsrep_sync_wait=0`, reads do not wait, so that only a COMMIT makes clients wait. */
const WITHOUT_WAIT: GaleraSetup = { syncWait: 0 };

export const FAULTS: readonly Scenario[] = [
  ...[6, 12].map((seconds) =>
    onPostgres(`standby-away-${seconds}`, `the synchronous standby hangs for ${seconds} s`, ({ nodes }) =>
      nodes[1].freeze(seconds * 1_000),
    ),
  ),
  onPostgres('primary-frozen', 'the primary hangs for 8 s', ({ nodes: [primary] }) => primary.freeze(8_000)),
  onPostgres('network-hangs', 'HAProxy forwards nothing for 8 s', ({ haproxy }) => haproxy.freeze(8_000)),
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
    async ({ nodes: [primary, standby] }) => {
      await primary.stop();
      await standby.promote();
      await primary.rejoin(standby);
      await standby.waitFor(primary);
    },
  ),
  ...[1, 7].map((seconds) =>
    onPostgres(
      `read-only-flap-${seconds}`,
      `HAProxy without role checks routes to the standby for ${seconds} s`,
      ({ haproxy, nodes: [primary] }) => haproxy.takeOut(primary, seconds * 1_000),
      { setup: { ignoresRoles: true }, targets: FLAP },
    ),
  ),

  onPatroni('patroni-primary-killed', 'the primary and its Patroni are killed', (primary) => primary.kill()),
  // Longer than the `ttl` of the leader's lock.
  onPatroni('patroni-primary-frozen', 'the primary and its Patroni hang for 30 s, and return', (primary) =>
    primary.freeze(30_000),
  ),
  onPatroni('patroni-switchover', 'Patroni switches over to the synchronous standby', (primary) =>
    primary.switchOver(),
  ),

  onGalera('galera-node-killed', KILLED, killThird, { isShort: true }),
  onGalera('galera-node-killed-0', `${KILLED}, with \`wsrep_sync_wait=0\``, killThird, {
    ...{ isShort: true, setup: WITHOUT_WAIT, targets: STALE },
  }),
  onGalera('galera-node-frozen', 'a node without clients hangs for 8 s', ({ nodes }) => nodes[2].freeze(8_000)),
  onGalera('galera-writer-killed', `${WRITER} is killed, and returns`, async ({ nodes: [first, second, third] }) => {
    await first.kill();
    await second.untilSize(2);
    await first.start([second, third]);
  }),
  onGalera('galera-writer-frozen', `${WRITER} hangs for 8 s`, ({ nodes: [first] }) => first.freeze(8_000)),
  onGalera('galera-writer-isolated', `${WRITER} ${ISOLATED}`, ({ nodes: [first] }) => first.isolate(8_000)),
  ...[1, 7].map((seconds) =>
    onGalera(
      `galera-read-only-flap-${seconds}`,
      `HAProxy without state checks routes to a read-only node for ${seconds} s`,
      async ({ haproxy, nodes: [first, second] }) => {
        await second.query('SET GLOBAL read_only = 1');
        await haproxy.takeOut(first, seconds * 1_000);
      },
      { setup: { ignoresStates: true }, targets: FLAP },
    ),
  ),

  onGroup('group-primary-killed', 'the primary is killed', async ({ nodes: [first, second] }) => {
    await first.kill();
    await second.untilSize(2);
  }),
  // Longer than the time after which the other members expel a member that does not respond.
  onGroup('group-primary-frozen', 'the primary hangs for 15 s, and returns', ({ nodes: [first, second] }) =>
    first.freeze(15_000, () => second.untilSize(2)),
  ),
  onGroup('group-switchover', 'another member becomes the primary', async ({ nodes: [first, second] }) => {
    const [row] = await second.query('SELECT @@server_uuid AS id');
    await first.query(`SELECT group_replication_set_as_primary('${String(row!['id'])}')`);
  }),
  onGroup('group-several-primaries', SEVERAL, killThird, { setup: { hasSeveralPrimaries: true } }),
];
