import { setTimeout as sleep } from 'node:timers/promises';
import { GroupCluster, type GroupSetup } from '../group-cluster';
import type { Scenario } from '../scenario';
import { stormsOn } from '../storm-scenario';

const onGroup = stormsOn<GroupCluster, GroupSetup>('Group Replication', (workspace, setup) =>
  GroupCluster.start(workspace, setup),
);

/** Longer than the time after which the other members expel a member that does not respond. */
const FROZEN_MS = 15_000;

async function killPrimary({ members: [first, second] }: GroupCluster): Promise<void> {
  await first.kill();
  await second.untilSize(2);
}

async function freezePrimary({ members: [first, second] }: GroupCluster): Promise<void> {
  first.daemon!.freeze();
  await sleep(FROZEN_MS);
  await second.untilSize(2);
  first.daemon!.thaw();
}

async function switchOver({ members: [first, second] }: GroupCluster): Promise<void> {
  const [row] = await second.query('SELECT @@server_uuid AS id');
  await first.query(`SELECT group_replication_set_as_primary('${String(row!['id'])}')`);
}

async function killThird({ members: [first, , third] }: GroupCluster): Promise<void> {
  await third.kill();
  await first.untilSize(2);
}

export const GROUP_SCENARIOS: readonly Scenario[] = [
  onGroup('group-primary-killed', 'the primary is killed', killPrimary),
  onGroup('group-primary-frozen', `the primary hangs for ${FROZEN_MS / 1_000} s, and returns`, freezePrimary),
  onGroup('group-switchover', 'another member becomes the primary', switchOver),
  onGroup(
    'group-several-primaries',
    'of three primaries, two have instances, and the third is killed; consistency `BEFORE`',
    killThird,
    { setup: { hasSeveralPrimaries: true } },
  ),
];
