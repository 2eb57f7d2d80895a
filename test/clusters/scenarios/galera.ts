import { setTimeout as sleep } from 'node:timers/promises';
import { GaleraCluster, type GaleraSetup } from '../galera-cluster';
import type { Scenario } from '../scenario';
import { FLAP, frozen, stormsOn } from '../storm-scenario';

const onGalera = stormsOn<GaleraCluster, GaleraSetup>('Galera', (workspace, setup) =>
  GaleraCluster.start(workspace, setup),
);

const KILLED = 'a node without clients is killed; the others wait 5 s for it';

async function killThird({ nodes: [first, , third] }: GaleraCluster): Promise<void> {
  await third.kill();
  await first.untilSize(2);
}

async function restartFirst({ nodes: [first, second, third] }: GaleraCluster): Promise<void> {
  await first.kill();
  await second.untilSize(2);
  await first.restart([second, third]);
}

async function isolateFirst({ nodes: [first] }: GaleraCluster): Promise<void> {
  await first.isolate(true);
  await sleep(8_000);
  await first.isolate(false);
}

export const GALERA_SCENARIOS: readonly Scenario[] = [
  onGalera('galera-node-killed', KILLED, killThird, { isShort: true }),
  // With `wsrep_sync_wait=0`, reads do not wait, so that only a COMMIT makes clients wait.
  onGalera('galera-node-killed-0', `${KILLED}, with \`wsrep_sync_wait=0\``, killThird, {
    isShort: true,
    setup: { syncWait: 0 },
    aims: { mayBeStale: true },
  }),
  onGalera(
    'galera-node-frozen',
    'a node without clients hangs for 8 s',
    frozen(({ nodes: [, , third] }) => third.daemon, 8),
  ),
  onGalera('galera-writer-killed', 'the node of the first instance is killed, and returns', restartFirst),
  onGalera(
    'galera-writer-frozen',
    'the node of the first instance hangs for 8 s',
    frozen(({ nodes: [first] }) => first.daemon, 8),
  ),
  onGalera(
    'galera-writer-isolated',
    'the node of the first instance loses the other nodes for 8 s, but keeps its clients',
    isolateFirst,
  ),
  ...[1, 7].map((seconds) =>
    onGalera(
      `galera-read-only-flap-${seconds}`,
      `HAProxy without state checks routes to a read-only node for ${seconds} s`,
      async (cluster) => {
        await cluster.nodes[1].query('SET GLOBAL read_only = 1');
        await cluster.flap(seconds * 1_000);
      },
      { setup: { ignoresStates: true }, aims: FLAP },
    ),
  ),
];
