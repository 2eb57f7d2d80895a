import { setTimeout as sleep } from 'node:timers/promises';
import { GaleraCluster, type GaleraSetup } from '../galera-cluster';
import type { Scenario } from '../scenario';
import { FLAP, stormsOn } from '../storm-scenario';

const onGalera = stormsOn<GaleraCluster, GaleraSetup>('Galera', (workspace, setup) =>
  GaleraCluster.start(workspace, setup),
);

async function killThird({ nodes: [first, , third] }: GaleraCluster): Promise<void> {
  await third.kill();
  await first.untilSize(2);
}

export const GALERA_SCENARIOS: readonly Scenario[] = [
  onGalera({
    name: 'galera-node-killed',
    title: 'a node without clients is killed; the others wait 5 s for it',
    isShort: true,
    fault: killThird,
  }),
  // With `wsrep_sync_wait=0`, reads do not wait, so that only a COMMIT makes clients wait.
  onGalera({
    name: 'galera-node-killed-0',
    title: 'a node without clients is killed; the others wait 5 s for it, with `wsrep_sync_wait=0`',
    isShort: true,
    setup: { syncWait: 0 },
    aims: { mayBeStale: true },
    fault: killThird,
  }),
  onGalera({
    name: 'galera-node-frozen',
    title: 'a node without clients hangs for 8 s',
    async fault({ nodes: [, , third] }) {
      third.freeze();
      await sleep(8_000);
      third.thaw();
    },
  }),
  onGalera({
    name: 'galera-writer-killed',
    title: 'the node of the first instance is killed, and returns',
    async fault({ nodes: [first, second, third] }) {
      await first.kill();
      await second.untilSize(2);
      await first.restart([second, third]);
    },
  }),
  onGalera({
    name: 'galera-writer-frozen',
    title: 'the node of the first instance hangs for 8 s',
    async fault({ nodes: [first] }) {
      first.freeze();
      await sleep(8_000);
      first.thaw();
    },
  }),
  onGalera({
    name: 'galera-writer-isolated',
    title: 'the node of the first instance loses the other nodes for 8 s, but keeps its clients',
    async fault({ nodes: [first] }) {
      await first.isolate(true);
      await sleep(8_000);
      await first.isolate(false);
    },
  }),
  ...[1, 7].map((seconds) =>
    onGalera({
      name: `galera-read-only-flap-${seconds}`,
      title: `HAProxy without state checks routes to a read-only node for ${seconds} s`,
      setup: { ignoresStates: true },
      aims: FLAP,
      async fault(cluster) {
        await cluster.nodes[1].query('SET GLOBAL read_only = 1');
        await cluster.flap(seconds * 1_000);
      },
    }),
  ),
];
