import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { startPgBouncer } from '../../bench/src/application/pgbouncer';
import { CHANGES_OF_PRIMARY, CHECK_USER, postgresCheck } from './checks';
import { APPLICATION, DATABASE, type Cluster } from './cluster';
import { HaProxy } from './haproxy';
import { PostgresNode } from './postgres-node';
import type { Workspace } from './workspace';

export interface PostgresSetup {
  /** If true, the applications connect through PgBouncer in transaction mode. */
  readonly hasPgBouncer?: boolean;
  /**
   * If true, HAProxy does not check roles. It switches to the standby while the primary is unreachable, and keeps
   * the connections to the standby.
   */
  readonly ignoresRoles?: boolean;
}

const ENTRY = 'postgres';

/** A primary, a synchronous standby, and HAProxy, which routes to the writable server. */
export class PostgresCluster implements Cluster {
  private url: string;
  auth: AuthModuleOptions = {};

  private constructor(
    readonly primary: PostgresNode,
    readonly standby: PostgresNode,
    readonly haproxy: HaProxy,
    private readonly workspace: Workspace,
  ) {
    this.url = this.entryUrl(APPLICATION, DATABASE);
  }

  static async start(workspace: Workspace, setup: PostgresSetup): Promise<PostgresCluster> {
    const primary = await PostgresNode.create('one', workspace);
    await primary.query(`CREATE ROLE ${CHECK_USER} LOGIN`);
    await primary.query(`CREATE ROLE ${APPLICATION} LOGIN`);
    await primary.query(`CREATE DATABASE ${DATABASE} OWNER ${APPLICATION}`);
    const standby = await PostgresNode.follow(primary, 'two', workspace);
    await primary.waitFor(standby);
    const { ignoresRoles = false } = setup;
    const check = ignoresRoles ? null : { lines: postgresCheck(), servers: CHANGES_OF_PRIMARY };
    const entry = { name: ENTRY, check, servers: [primary, standby], hasBackups: ignoresRoles };
    const haproxy = await HaProxy.start(workspace, [entry]);
    const cluster = new PostgresCluster(primary, standby, haproxy, workspace);
    if (setup.hasPgBouncer) {
      cluster.url = await cluster.startBouncer(cluster.url);
      cluster.auth = { namedStatements: false };
    }
    return cluster;
  }

  options(): DataSourceOptions {
    return { type: 'postgres', url: this.url, connectTimeoutMS: 2_000, extra: { max: 10 } };
  }

  /** Returns the URL of HAProxy. */
  entryUrl(user: string, database: string): string {
    return `postgres://${user}@127.0.0.1:${this.haproxy.port(ENTRY)}/${database}`;
  }

  /** Starts a PgBouncer in front of one database of the cluster, or of all (`*`), and returns its URL. */
  async startBouncer(url: string): Promise<string> {
    const bouncer = await startPgBouncer(url, ['server_login_retry = 1']);
    this.workspace.teardown.add(() => bouncer.stop());
    return bouncer.url;
  }

  /** Disables the primary in HAProxy for some time, which closes its connections. */
  async flap(forMs: number): Promise<void> {
    await this.haproxy.takeOut(ENTRY, this.primary.name, forMs);
  }
}
