import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isListening } from '../../bench/src/application/port';
import { Daemon, giveTo } from './daemon';
import type { PostgresNode } from './postgres-node';
import { freePort, subfolder, type Workspace } from './workspace';

const USER = 'postgres';

/** Starts Pgpool-II in front of a primary and its standby, and returns its port. */
export async function startPgpool(
  workspace: Workspace,
  nodes: readonly PostgresNode[],
  isBalancing: boolean,
): Promise<number> {
  const folder = subfolder(workspace, 'pgpool');
  const [port, controlPort] = [await freePort(), await freePort()];
  for (const name of ['sockets', 'logs']) mkdirSync(join(folder, name));
  const backends = nodes.flatMap((node, index) => [
    `backend_hostname${index} = '127.0.0.1'`,
    `backend_port${index} = ${node.port}`,
    `backend_weight${index} = 1`,
    `backend_flag${index} = 'DISALLOW_TO_FAILOVER'`,
  ]);
  const sockets = ['socket_dir', 'pcp_socket_dir', 'wd_ipc_socket_dir'];
  const configuration = [
    "backend_clustering_mode = 'streaming_replication'",
    ...["listen_addresses = '127.0.0.1'", `port = ${port}`, 'num_init_children = 60'],
    ...["pcp_listen_addresses = '127.0.0.1'", `pcp_port = ${controlPort}`],
    ...sockets.map((name) => `${name} = '${join(folder, 'sockets')}'`),
    ...[`pid_file_name = '${join(folder, 'pid')}'`, `logdir = '${join(folder, 'logs')}'`],
    ...["sr_check_user = 'postgres'", 'sr_check_period = 1'],
    `load_balance_mode = ${isBalancing ? 'on' : 'off'}`,
    ...backends,
  ];
  const files = { configuration: 'pgpool.conf', hosts: 'pool_hba.conf', control: 'pcp.conf' };
  writeFileSync(join(folder, files.configuration), `${configuration.join('\n')}\n`);
  for (const name of [files.hosts, files.control]) writeFileSync(join(folder, name), '');
  giveTo(USER, folder);
  const daemon = Daemon.start('pgpool', USER, 'pgpool', [
    ...['-n', '-f', join(folder, files.configuration)],
    ...['-a', join(folder, files.hosts), '-F', join(folder, files.control)],
  ]);
  workspace.teardown.add(() => daemon.stop('SIGINT'));
  await daemon.until(() => isListening(port));
  return port;
}
