import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { CHANGES_OF_MEMBERS, CHECK_USER, memberCheck } from './checks';
import { APPLICATION, DATABASE, type Cluster } from './cluster';
import { Daemon, giveTo, run, ServerNode } from './daemon';
import { queryMysql } from './galera-node';
import { HaProxy } from './haproxy';
import { freePort, subfolder, type Workspace } from './workspace';

const USER = 'mysql';
const GROUP = 'b1b6f9de-9d2c-4b4b-9d4b-0d8f3f5d3c11';
const ENTRIES = ['first', 'second'] as const;

export interface GroupSetup {
  /** If true, every member accepts writes, and each instance uses its own member. */
  readonly hasSeveralPrimaries?: boolean;
}

type Members = readonly [GroupMember, GroupMember, GroupMember];

/** Returns the command of MySQL 9 that scripts/clusters.mjs has downloaded. */
function mysqld(): [command: string, ...args: string[]] {
  return JSON.parse(process.env['CLUSTERS_MYSQLD']!) as [string, ...string[]];
}

/** A MySQL server of a replication group. */
class GroupMember extends ServerNode {
  private constructor(
    name: string,
    port: number,
    folder: string,
    private readonly id: number,
    private readonly groupPort: number,
  ) {
    super(name, port, folder);
  }

  static async create(id: number, workspace: Workspace): Promise<GroupMember> {
    const name = `member-${id}`;
    const folder = subfolder(workspace, name);
    giveTo(USER, folder);
    const member = new GroupMember(name, await freePort(), folder, id, await freePort());
    workspace.teardown.add(() => member.stop());
    return member;
  }

  /** Initializes the data directory. */
  async install(): Promise<void> {
    const [command, ...args] = mysqld();
    await run(USER, command, [...args, `--datadir=${this.folder}`, '--initialize-insecure']);
  }

  /** Copies the data of a member that was shut down, without its identity. */
  copyFrom(other: GroupMember): void {
    rmSync(this.folder, { recursive: true });
    cpSync(other.folder, this.folder, { recursive: true });
    rmSync(join(this.folder, 'auto.cnf'));
    giveTo(USER, this.folder);
  }

  async start(seeds: readonly GroupMember[], { hasSeveralPrimaries = false }: GroupSetup): Promise<void> {
    const [command, ...args] = mysqld();
    this.daemon = Daemon.start(this.name, USER, command, [
      ...args,
      ...[`--datadir=${this.folder}`, `--port=${this.port}`, `--socket=${join(this.folder, 'socket')}`],
      ...['--bind-address=127.0.0.1', '--mysqlx=OFF', '--max-connections=300', '--innodb-buffer-pool-size=64M'],
      // Tests kill processes, never the machine. Data that is not flushed to the disk is therefore not lost.
      ...['--innodb-flush-log-at-trx-commit=2', '--sync-binlog=0', `--server-id=${this.id}`],
      ...['--gtid-mode=ON', '--enforce-gtid-consistency=ON', '--report-host=127.0.0.1', `--report-port=${this.port}`],
      ...['--plugin-load-add=group_replication.so', '--loose-group-replication-start-on-boot=OFF'],
      `--loose-group-replication-group-name=${GROUP}`,
      `--loose-group-replication-local-address=127.0.0.1:${this.groupPort}`,
      `--loose-group-replication-group-seeds=${seeds.map(({ groupPort }) => `127.0.0.1:${groupPort}`).join(',')}`,
      `--loose-group-replication-single-primary-mode=${hasSeveralPrimaries ? 'OFF' : 'ON'}`,
      `--loose-group-replication-enforce-update-everywhere-checks=${hasSeveralPrimaries ? 'ON' : 'OFF'}`,
      `--loose-group-replication-consistency=${hasSeveralPrimaries ? 'BEFORE' : 'BEFORE_ON_PRIMARY_FAILOVER'}`,
      '--loose-group-replication-recovery-get-public-key=ON',
    ]);
    await this.daemon.until(async () => (await this.query('SELECT 1')).length === 1);
  }

  /** @param isFirst whether the member starts the group */
  async join(isFirst: boolean): Promise<void> {
    await this.query("CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'");
    if (isFirst) await this.query('SET GLOBAL group_replication_bootstrap_group = ON');
    await this.query('START GROUP_REPLICATION');
    if (isFirst) await this.query('SET GLOBAL group_replication_bootstrap_group = OFF');
    await this.daemon!.until(async () => {
      const own = await this.query(`${MEMBERS} WHERE MEMBER_ID = @@server_uuid AND MEMBER_STATE = 'ONLINE'`);
      return own.length === 1;
    });
  }

  /** Waits until the member sees this many members, of which one accepts writes. */
  async untilSize(size: number): Promise<void> {
    await this.daemon!.until(async () => {
      const members = await this.query(`${MEMBERS} WHERE MEMBER_STATE = 'ONLINE'`);
      return members.length === size && members.some(({ MEMBER_ROLE: role }) => role === 'PRIMARY');
    });
  }

  query(sql: string): Promise<Record<string, unknown>[]> {
    return queryMysql(`mysql://root@127.0.0.1:${this.port}/mysql`, sql);
  }
}

const MEMBERS = 'SELECT MEMBER_ID, MEMBER_ROLE FROM performance_schema.replication_group_members';

/** Three members of a replication group, and HAProxy, which routes to a member that accepts writes. */
export class GroupCluster implements Cluster {
  readonly auth = {};

  private constructor(
    readonly members: Members,
    private readonly haproxy: HaProxy,
  ) {}

  static async start(workspace: Workspace, setup: GroupSetup): Promise<GroupCluster> {
    const created = [];
    for (const id of [1, 2, 3]) created.push(await GroupMember.create(id, workspace));
    const members = created as unknown as Members;
    const [first, second, third] = members;
    await first.install();
    await first.start(members, setup);
    await first.query(`CREATE USER ${CHECK_USER}@'%'`);
    await first.query(`CREATE USER ${APPLICATION}@'%'`);
    await first.query(`CREATE DATABASE ${DATABASE}`);
    await first.query(`GRANT ALL ON ${DATABASE}.* TO ${APPLICATION}@'%'`);
    await first.stop();
    for (const member of [second, third]) member.copyFrom(first);
    for (const member of members) {
      await member.start(members, setup);
      await member.join(member === first);
    }
    await first.untilSize(3);
    const check = { lines: memberCheck(), servers: CHANGES_OF_MEMBERS };
    const entries = ENTRIES.map((name, index) => {
      return { name, check, servers: [...members.slice(index), ...members.slice(0, index)], hasBackups: true };
    });
    return new GroupCluster(members, await HaProxy.start(workspace, entries));
  }

  options(instance: number): DataSourceOptions {
    const url = `mysql://${APPLICATION}@127.0.0.1:${this.haproxy.port(ENTRIES[(instance % 2) as 0 | 1])}/${DATABASE}`;
    return { type: 'mysql', url, connectTimeout: 2_000, extra: { connectionLimit: 10 } };
  }
}
