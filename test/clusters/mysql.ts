import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { APPLICATION, DATABASE, type Cluster } from './cluster';
import { CHECK_USER, HaProxy } from './haproxy';
import { query, run, Server, type Row } from './server';
import type { Workspace } from './workspace';

const SETTINGS = [
  ...['--bind-address=127.0.0.1', '--max-connections=300', '--innodb-buffer-pool-size=64M'],
  // Tests kill processes, never the machine. Data that is not flushed to the disk is therefore not lost.
  '--innodb-flush-log-at-trx-commit=2',
];

const GALERA_SETTINGS = [
  ...['--skip-name-resolve', '--innodb-log-file-size=16M', '--binlog-format=ROW', '--innodb-autoinc-lock-mode=2'],
  ...['--wsrep-on=ON', '--wsrep-provider=/usr/lib/galera/libgalera_smm.so'],
];

abstract class MySqlNode extends Server {
  readonly groupPort = this.workspace.freePort();

  abstract install(): Promise<void>;

  /** Returns the URL of a database on this node, with administrator privileges. */
  url(database: string): string {
    return `mysql://root@127.0.0.1:${this.port}/${database}`;
  }

  query(sql: string, database = 'mysql'): Promise<Row[]> {
    return query(this.url(database), sql);
  }

  protected settings(): string[] {
    const { port, folder } = this;
    return [...SETTINGS, `--datadir=${folder}`, `--socket=${join(folder, 'socket')}`, `--port=${port}`];
  }
}

export class GaleraNode extends MySqlNode {
  private readonly transferPort = this.workspace.freePort();
  private readonly copyPort = this.workspace.freePort();
  syncWait: 0 | 1 = 1;

  async install(): Promise<void> {
    const access = ['--auth-root-authentication-method=normal', '--skip-test-db'];
    await run('mariadb-install-db', '--no-defaults', `--datadir=${this.folder}`, ...access);
  }

  /**
   * Starts the node as its systemd service does: it recovers from its log, and receives the rest from the other nodes.
   *
   * @param others the other nodes of the cluster. Without any, the node starts a new cluster
   */
  async start(others: readonly GaleraNode[]): Promise<void> {
    const settings = this.settingsWith(others);
    const output = await run('mariadbd', ...settings, '--wsrep-recover');
    const position = /Recovered position:\s*(\S+)/.exec(output)![1];
    await this.launch('mariadbd', [...settings, `--wsrep-start-position=${position}`], () =>
      this.has('wsrep_local_state_comment', 'Synced'),
    );
  }

  untilSize(size: number): Promise<void> {
    return this.until(() => this.has('wsrep_cluster_size', String(size)));
  }

  /** Disconnects the node from the other nodes, which consider it lost, and lets it join them again some time later. */
  async isolate(forMs: number): Promise<void> {
    await this.setIsolation(1);
    await sleep(forMs);
    await this.setIsolation(0);
  }

  /** Without TypeORM, which begins with a read: on an isolated node, `wsrep_sync_wait` would wait for the others. */
  private async setIsolation(value: 0 | 1): Promise<void> {
    const connection = await createConnection({ uri: this.url('mysql'), connectTimeout: 2_000 });
    try {
      await connection.query(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${value}'`);
    } finally {
      connection.destroy();
    }
  }

  private async has(variable: string, value: string): Promise<boolean> {
    return (await this.query(`SHOW STATUS LIKE '${variable}'`))[0]?.['Value'] === value;
  }

  private settingsWith(others: readonly GaleraNode[]): string[] {
    const address = `127.0.0.1:${this.groupPort}`;
    const provider = [
      ...[`gmcast.listen_addr=tcp://${address}`, 'base_host=127.0.0.1', `base_port=${this.groupPort}`],
      ...[`ist.recv_addr=127.0.0.1:${this.transferPort}`, 'gcache.size=32M'],
    ];
    return [
      ...['--no-defaults', ...this.settings(), ...GALERA_SETTINGS, `--wsrep-sync-wait=${this.syncWait}`],
      ...[`--wsrep-node-address=${address}`, `--wsrep-sst-receive-address=127.0.0.1:${this.copyPort}`],
      `--wsrep-cluster-address=gcomm://${others.map(({ groupPort }) => `127.0.0.1:${groupPort}`).join(',')}`,
      `--wsrep-provider-options=${provider.join(';')}`,
    ];
  }
}

export interface GaleraSetup {
  /** `wsrep_sync_wait` of the nodes. With 1, a read waits until the node has applied earlier commits. Default: 1. */
  readonly syncWait?: 0 | 1;
  /**
   * If true, HAProxy does not check the states of nodes. It switches to another node while a node is unreachable,
   * and keeps the connections to the other node.
   */
  readonly ignoresStates?: boolean;
}

export type GaleraCluster = Cluster<readonly [GaleraNode, GaleraNode, GaleraNode]>;

/**
 * Starts three writable nodes, and HAProxy with an entry for each of the first two nodes. An entry switches to another
 * node if its own node is down.
 */
export async function startGalera(workspace: Workspace, setup: GaleraSetup = {}): Promise<GaleraCluster> {
  const nodes = nodesOf((name) => new GaleraNode(workspace, name));
  const [first, second, third] = nodes;
  for (const node of nodes) node.syncWait = setup.syncWait ?? 1;
  await prepare(nodes, () => first.start([]));
  await first.start([]);
  await Promise.all([second.start([first]), third.start([first])]);
  await first.untilSize(3);
  // Without a check of states, both entries lead to the first node, and to the second node while the first
  // node is down.
  const haproxy = setup.ignoresStates
    ? await HaProxy.start(workspace, null, nodes, nodes)
    : await HaProxy.start(workspace, 'galera', nodes, [second, third, first]);
  return { type: 'mariadb', nodes, haproxy, ports: haproxy.ports };
}

const MEMBERS = 'SELECT MEMBER_STATE AS state, MEMBER_ROLE AS role FROM performance_schema.replication_group_members';

class GroupMember extends MySqlNode {
  async install(): Promise<void> {
    const [command, ...args] = mysqld();
    await run(command, ...args, `--datadir=${this.folder}`, '--initialize-insecure');
  }

  async start(seeds: readonly GroupMember[], { hasSeveralPrimaries = false }: GroupSetup): Promise<void> {
    const [command, ...args] = mysqld();
    const group = {
      'start-on-boot': 'OFF',
      'group-name': 'b1b6f9de-9d2c-4b4b-9d4b-0d8f3f5d3c11',
      'local-address': `127.0.0.1:${this.groupPort}`,
      'group-seeds': seeds.map(({ groupPort }) => `127.0.0.1:${groupPort}`).join(','),
      'single-primary-mode': hasSeveralPrimaries ? 'OFF' : 'ON',
      'enforce-update-everywhere-checks': hasSeveralPrimaries ? 'ON' : 'OFF',
      consistency: hasSeveralPrimaries ? 'BEFORE' : 'BEFORE_ON_PRIMARY_FAILOVER',
      'recovery-get-public-key': 'ON',
    };
    const settings = [
      ...[...args, ...this.settings(), '--mysqlx=OFF', '--sync-binlog=0', `--server-id=${this.port}`],
      ...['--gtid-mode=ON', '--enforce-gtid-consistency=ON', '--report-host=127.0.0.1', `--report-port=${this.port}`],
      '--plugin-load-add=group_replication.so',
      ...Object.entries(group).map(([name, value]) => `--loose-group-replication-${name}=${value}`),
    ];
    await this.launch(command, settings, async () => (await this.query('SELECT 1')).length === 1);
  }

  async join(isFirst: boolean): Promise<void> {
    await this.query("CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'");
    if (isFirst) await this.query('SET GLOBAL group_replication_bootstrap_group = ON');
    await this.query('START GROUP_REPLICATION');
    if (isFirst) await this.query('SET GLOBAL group_replication_bootstrap_group = OFF');
    await this.until(async () => {
      const [member] = await this.query(`${MEMBERS} WHERE MEMBER_ID = @@server_uuid`);
      return member?.['state'] === 'ONLINE';
    });
  }

  /**
   * Waits until the group consists of this many members, of which one accepts writes. A member that does not respond
   * belongs to the group until the others expel it, and writes may wait until then.
   */
  async untilSize(size: number): Promise<void> {
    await this.until(async () => {
      const members = await this.query(MEMBERS);
      const isOnline = members.every(({ state }) => state === 'ONLINE');
      return members.length === size && isOnline && members.some(({ role }) => role === 'PRIMARY');
    });
  }
}

export interface GroupSetup {
  /** If true, every member accepts writes, and each instance uses its own member. */
  readonly hasSeveralPrimaries?: boolean;
}

export type GroupCluster = Cluster<readonly [GroupMember, GroupMember, GroupMember]>;

/** Starts three members of a replication group, and HAProxy, which routes to a member that accepts writes. */
export async function startGroup(workspace: Workspace, setup: GroupSetup = {}): Promise<GroupCluster> {
  const nodes = nodesOf((name) => new GroupMember(workspace, name));
  const [first, second, third] = nodes;
  await prepare(nodes, () => first.start(nodes, setup));
  for (const member of nodes) {
    await member.start(nodes, setup);
    await member.join(member === first);
  }
  await first.untilSize(3);
  const haproxy = await HaProxy.start(workspace, 'group', nodes, [second, third, first]);
  return { type: 'mysql', nodes, haproxy, ports: haproxy.ports };
}

/** Returns the command of MySQL 9 that scripts/clusters.mjs has downloaded. */
function mysqld(): [command: string, ...args: string[]] {
  return JSON.parse(process.env['CLUSTERS_MYSQLD']!) as [string, ...string[]];
}

function nodesOf<Node>(create: (name: string) => Node): [Node, Node, Node] {
  return [create('one'), create('two'), create('three')];
}

/** Installs the first node with the users and the database, and copies its data to the others. */
async function prepare(nodes: readonly MySqlNode[], startFirst: () => Promise<void>): Promise<void> {
  const [first, ...others] = nodes as readonly [MySqlNode, ...MySqlNode[]];
  await first.install();
  await startFirst();
  await first.query(`CREATE USER ${CHECK_USER}@'%'`);
  await first.query(`CREATE USER ${APPLICATION}@'%'`);
  await first.query(`CREATE DATABASE ${DATABASE}`);
  await first.query(`GRANT ALL ON ${DATABASE}.* TO ${APPLICATION}@'%'`);
  await first.stop();
  // Without this file, each MySQL generates an identity of its own.
  rmSync(join(first.folder, 'auto.cnf'), { force: true });
  for (const other of others) await other.copyFrom(first.folder);
}
