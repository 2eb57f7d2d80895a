import { setTimeout as sleep } from 'node:timers/promises';
import { PatroniCluster } from '../patroni-cluster';
import type { Scenario } from '../scenario';
import { stormsOn } from '../storm-scenario';

const onPatroni = stormsOn<PatroniCluster, object>('Patroni', (workspace) => PatroniCluster.start(workspace));

/** Longer than the `ttl` of the leader's lock. */
const FROZEN_MS = 30_000;

async function killPrimary(cluster: PatroniCluster): Promise<void> {
  await (await cluster.primary()).kill();
  await cluster.untilWritable();
}

async function freezePrimary(cluster: PatroniCluster): Promise<void> {
  const { daemon } = await cluster.primary();
  daemon!.freeze();
  await sleep(FROZEN_MS);
  daemon!.thaw();
  await cluster.untilWritable();
}

async function switchOver(cluster: PatroniCluster): Promise<void> {
  await cluster.switchOver();
  await cluster.untilWritable();
}

export const PATRONI_SCENARIOS: readonly Scenario[] = [
  onPatroni('patroni-primary-killed', 'the primary and its Patroni are killed', killPrimary),
  onPatroni(
    'patroni-primary-frozen',
    `the primary and its Patroni hang for ${FROZEN_MS / 1_000} s, and return`,
    freezePrimary,
  ),
  onPatroni('patroni-switchover', 'Patroni switches over to the synchronous standby', switchOver),
];
