import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Daemon, giveTo, run, ServerNode } from './daemon';
import { freePort, subfolder, type Workspace } from './workspace';

const USER = 'mysql';
const PROVIDER = '/usr/lib/galera/libgalera_smm.so';

const SETTINGS = [
  '--no-defaults',
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
  '--max-connections=300',
  '--innodb-buffer-pool-size=64M',
  '--innodb-log-file-size=16M',
  // Tests kill processes, never the machine. Data that is not flushed to the disk is therefore not lost.
  '--innodb-flush-log-at-trx-commit=2',
  '--binlog-format=ROW',
  '--default-storage-engine=InnoDB',
  '--innodb-autoinc-lock-mode=2',
  '--wsrep-on=ON',
  `--wsrep-provider=${PROVIDER}`,
  '--wsrep-cluster-name=nsa',
  '--wsrep-sst-method=rsync',
];

/** Runs a statement on a connection of its own. */
export async function queryMysql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const connection = await createConnection({ uri: url, connectTimeout: 2_000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout: 30_000 });
    return rows;
  } finally {
    connection.destroy();
  }
}

/** A MariaDB server of a Galera cluster. */
export class GaleraNode extends ServerNode {
  private constructor(
    name: string,
    port: number,
    folder: string,
    private readonly groupPort: number,
    private readonly transferPort: number,
    private readonly copyPort: number,
    private readonly syncWait: number,
  ) {
    super(name, port, folder);
  }

  /** @param syncWait `wsrep_sync_wait` */
  static async create(name: string, workspace: Workspace, syncWait: number): Promise<GaleraNode> {
    const folder = subfolder(workspace, name);
    giveTo(USER, folder);
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const node = new GaleraNode(name, await freePort(), folder, ...ports, syncWait);
    workspace.teardown.add(() => node.stop());
    return node;
  }

  /** Initializes the data directory of the first node. */
  async install(): Promise<void> {
    await run(USER, 'mariadb-install-db', [
      ...['--no-defaults', `--datadir=${this.folder}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    ]);
  }

  /** Copies the data of a node that was shut down, so that this node needs no full state transfer. */
  copyFrom(other: GaleraNode): void {
    rmSync(this.folder, { recursive: true });
    cpSync(other.folder, this.folder, { recursive: true });
    giveTo(USER, this.folder);
  }

  /** @param others the other nodes of the cluster. Without any, the node starts a new cluster */
  async start(others: readonly GaleraNode[]): Promise<void> {
    await this.launch(this.settings(others));
  }

  /** Restarts a killed node. It recovers from its log, and receives the rest from the other nodes. */
  async restart(others: readonly GaleraNode[]): Promise<void> {
    const settings = this.settings(others);
    const output = await run(USER, 'mariadbd', [...settings, '--wsrep-recover']);
    const position = /Recovered position:\s*(\S+)/.exec(output)?.[1];
    await this.launch(position ? [...settings, `--wsrep-start-position=${position}`] : settings);
  }

  private async launch(settings: readonly string[]): Promise<void> {
    this.daemon = Daemon.start(this.name, USER, 'mariadbd', settings);
    await this.until('wsrep_local_state_comment', 'Synced');
  }

  private settings(others: readonly GaleraNode[]): string[] {
    const { port, groupPort, transferPort, copyPort, folder } = this;
    const provider = [
      `gmcast.listen_addr=tcp://127.0.0.1:${groupPort}`,
      ...['base_host=127.0.0.1', `base_port=${groupPort}`, `ist.recv_addr=127.0.0.1:${transferPort}`],
      'gcache.size=32M',
    ];
    const members = others.map((other) => `127.0.0.1:${other.groupPort}`);
    return [
      ...SETTINGS,
      ...[`--datadir=${folder}`, `--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`],
      ...[`--port=${port}`, `--wsrep-sync-wait=${this.syncWait}`],
      ...[`--wsrep-node-name=${this.name}`, `--wsrep-node-address=127.0.0.1:${groupPort}`],
      `--wsrep-sst-receive-address=127.0.0.1:${copyPort}`,
      `--wsrep-cluster-address=gcomm://${members.join(',')}`,
      `--wsrep-provider-options=${provider.join(';')}`,
    ];
  }

  /** Waits until the node sees this many nodes in its cluster. */
  untilSize(size: number): Promise<void> {
    return this.until('wsrep_cluster_size', String(size));
  }

  private async until(variable: string, value: string): Promise<void> {
    await this.daemon!.until(async () => {
      const [row] = await this.query(`SHOW STATUS LIKE '${variable}'`);
      return row?.['Value'] === value;
    });
  }

  /** Returns the URL of a database on this node, with administrator privileges. */
  url(database: string): string {
    return `mysql://root@127.0.0.1:${this.port}/${database}`;
  }

  query(sql: string, database = 'mysql'): Promise<Record<string, unknown>[]> {
    return queryMysql(this.url(database), sql);
  }

  /** Disconnects the node from the other nodes, which then consider it lost, or lets it join them again. */
  async isolate(isIsolated: boolean): Promise<void> {
    await this.query(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isIsolated ? 1 : 0}'`);
  }
}
