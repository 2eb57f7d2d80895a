import { appendFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isListening } from '../support/port';
import { APPLICATION, DATABASE, type Cluster } from './cluster';
import { CHECK_USER, HaProxy } from './haproxy';
import { query, run, Server, type Row } from './server';
import type { Workspace } from './workspace';

/** Tests kill processes, never the machine. Data that is not flushed to the disk is therefore not lost. */
const CONFIGURATION = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
shared_buffers = 32MB
fsync = off
wal_keep_size = 128MB
max_wal_size = 128MB
log_min_messages = fatal
`;

/** Debian installs most programs of PostgreSQL outside of the PATH. The newest version is preferred. */
const DEBIAN = '/usr/lib/postgresql';
const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
process.env['PATH'] = [...versions.map((version) => join(DEBIAN, version, 'bin')), process.env['PATH']].join(':');

export function postgresUrl(port: number, database = 'postgres'): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

export class PostgresNode extends Server {
  protected override readonly shutdownSignal = 'SIGINT';
  private readonly backup = `${this.folder}-backup`;

  query(sql: string, database?: string): Promise<Row[]> {
    return query(postgresUrl(this.port, database), sql);
  }

  async start(): Promise<void> {
    const args = ['-D', this.folder, '-p', String(this.port)];
    await this.launch('postgres', args, () => this.returns('SELECT 1'));
  }

  async create(): Promise<void> {
    await run(
      'initdb',
      ...['--pgdata', this.folder, '--username', 'postgres', '--auth', 'trust', '--no-sync', '--no-instructions'],
      ...['--encoding', 'UTF8', '--locale', 'C.UTF-8'],
    );
    appendFileSync(join(this.folder, 'postgresql.conf'), CONFIGURATION);
    await this.start();
  }

  /** Creates and starts a standby. Its name is its entry in `synchronous_standby_names`. */
  async follow(primary: PostgresNode): Promise<void> {
    await primary.copyTo(this.folder, `application_name=${this.name}`, '--write-recovery-conf');
    await this.start();
  }

  /** Stops the replication to a standby, which receives no later commits. */
  async unfollow(): Promise<void> {
    await this.set('primary_conninfo', '');
    await this.until(async () => !(await this.returns('SELECT 1 FROM pg_stat_wal_receiver')));
  }

  async backUp(): Promise<void> {
    await this.copyTo(this.backup);
  }

  /** Starts from the backup. Disables synchronous replication, because the node has no standby. */
  async restore(): Promise<void> {
    await this.copyFrom(this.backup);
    this.configure("synchronous_standby_names = ''");
    await this.start();
  }

  /** Promotes a standby to primary. Commits do not wait for a standby until one is added. */
  async promote(): Promise<void> {
    await this.waitForNobody();
    await this.query('SELECT pg_promote()');
    await this.until(() => this.returns("SELECT 1 WHERE current_setting('transaction_read_only') = 'off'"));
  }

  /** Lets commits succeed before a standby has received them. */
  async waitForNobody(): Promise<void> {
    await this.set('synchronous_standby_names', '');
  }

  /** Makes each commit wait until a standby has written it to disk. */
  async waitFor({ name }: PostgresNode): Promise<void> {
    await this.set('synchronous_standby_names', name);
    const replicating = `SELECT 1 FROM pg_stat_replication WHERE application_name = '${name}' AND sync_state = 'sync'`;
    await this.until(() => this.returns(replicating));
  }

  /** Starts a server that was shut down as a standby of the new primary. */
  async rejoin({ port }: PostgresNode): Promise<void> {
    this.configure(`primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=${this.name}'`);
    writeFileSync(join(this.folder, 'standby.signal'), '');
    await this.start();
  }

  private async returns(sql: string): Promise<boolean> {
    return (await this.query(sql)).length > 0;
  }

  private async set(setting: string, value: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET ${setting} = '${value}'`);
    await this.query('SELECT pg_reload_conf()');
  }

  private configure(line: string): void {
    appendFileSync(join(this.folder, 'postgresql.auto.conf'), `${line}\n`);
  }

  private async copyTo(folder: string, connection = '', ...options: readonly string[]): Promise<void> {
    await run(
      'pg_basebackup',
      ...['--dbname', `host=127.0.0.1 port=${this.port} user=postgres ${connection}`],
      ...['--pgdata', folder, '--checkpoint', 'fast', '--no-sync', ...options],
    );
  }
}

export interface PostgresSetup {
  /** If true, the applications connect through PgBouncer in transaction mode. */
  readonly hasPgBouncer?: boolean;
  /**
   * If true, HAProxy does not check roles. It switches to the standby while the primary is unreachable, and keeps
   * the connections to the standby.
   */
  readonly ignoresRoles?: boolean;
}

export type PostgresCluster = Cluster<readonly [primary: PostgresNode, standby: PostgresNode]>;

/** Starts a primary, a synchronous standby, and HAProxy, which routes to the writable server. */
export async function startPostgres(workspace: Workspace, setup: PostgresSetup = {}): Promise<PostgresCluster> {
  const nodes = [new PostgresNode(workspace, 'one'), new PostgresNode(workspace, 'two')] as const;
  const [primary, standby] = nodes;
  await primary.create();
  await primary.query(`CREATE ROLE ${CHECK_USER} LOGIN`);
  await primary.query(`CREATE ROLE ${APPLICATION} LOGIN`);
  await primary.query(`CREATE DATABASE ${DATABASE} OWNER ${APPLICATION}`);
  await standby.follow(primary);
  await primary.waitFor(standby);
  const haproxy = await HaProxy.start(workspace, setup.ignoresRoles ? null : 'postgres', nodes);
  const cluster = { type: 'postgres', nodes, haproxy, ports: haproxy.ports } as const;
  if (!setup.hasPgBouncer) return cluster;
  const port = await startBouncer(workspace, haproxy, APPLICATION);
  return { ...cluster, ports: [port], auth: { namedStatements: false } };
}

/** Starts a PgBouncer in transaction mode that logs in to all databases behind HAProxy as one user. Returns its port. */
export function startBouncer(workspace: Workspace, { ports }: HaProxy, user: string): Promise<number> {
  return startProxy(workspace, ['pgbouncer'], ({ port }) => [
    ...['[databases]', `* = host=127.0.0.1 port=${ports[0]} user=${user}`],
    ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
    ...['pool_mode = transaction', 'max_client_conn = 500', 'server_login_retry = 1'],
    'ignore_startup_parameters = extra_float_digits',
  ]);
}

/** Starts Pgpool-II in front of a primary and its standby, and returns its port. */
export function startPgpool(workspace: Workspace, nodes: readonly PostgresNode[], isBalancing: boolean) {
  return startProxy(workspace, ['pgpool', '-n', '-f'], ({ port, folder }) => [
    "backend_clustering_mode = 'streaming_replication'",
    ...["listen_addresses = '127.0.0.1'", `port = ${port}`, 'num_init_children = 60'],
    ...["pcp_listen_addresses = '127.0.0.1'", `pcp_port = ${workspace.freePort()}`],
    ...['socket_dir', 'pcp_socket_dir', 'wd_ipc_socket_dir', 'logdir'].map((name) => `${name} = '${folder}'`),
    `pid_file_name = '${join(folder, 'pid')}'`,
    ...["sr_check_user = 'postgres'", 'sr_check_period = 1', `load_balance_mode = ${isBalancing ? 'on' : 'off'}`],
    ...nodes.flatMap((node, index) => [
      ...[`backend_hostname${index} = '127.0.0.1'`, `backend_port${index} = ${node.port}`],
      `backend_flag${index} = 'DISALLOW_TO_FAILOVER'`,
    ]),
  ]);
}

type Command = readonly [string, ...string[]];

async function startProxy(workspace: Workspace, [command, ...args]: Command, linesOf: (proxy: Server) => string[]) {
  const proxy = new Server(workspace, command);
  const file = join(proxy.folder, 'conf');
  writeFileSync(file, `${linesOf(proxy).join('\n')}\n`);
  await proxy.launch(command, [...args, file], () => isListening(proxy.port));
  return proxy.port;
}
