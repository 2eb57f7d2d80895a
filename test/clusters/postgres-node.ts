import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { Daemon, giveTo, run, ServerNode } from './daemon';
import { freePort, subfolder, type Workspace } from './workspace';

const USER = 'postgres';
const ALL_VERSIONS = '/usr/lib/postgresql';

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

/** Returns the path of a program of PostgreSQL. Debian does not install all of them in the PATH. */
export function postgresProgram(name: string): string {
  if (!existsSync(ALL_VERSIONS)) return name;
  const newest = readdirSync(ALL_VERSIONS).sort((a, b) => Number(b) - Number(a))[0]!;
  return join(ALL_VERSIONS, newest, 'bin', name);
}

/** Runs a statement on a connection of its own. @param timeoutMs unlimited by default */
export async function queryPostgres(url: string, sql: string, timeoutMs = 0): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: timeoutMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A PostgreSQL server. */
export class PostgresNode extends ServerNode {
  private constructor(
    name: string,
    port: number,
    folder: string,
    private readonly backup: string,
  ) {
    super(name, port, folder);
  }

  /** Creates and starts a primary. */
  static async create(name: string, workspace: Workspace): Promise<PostgresNode> {
    const node = await PostgresNode.in(workspace, name);
    await run(USER, postgresProgram('initdb'), [
      ...['--pgdata', node.folder, '--username', 'postgres', '--auth', 'trust', '--no-sync', '--no-instructions'],
      ...['--encoding', 'UTF8', '--locale', 'C.UTF-8'],
    ]);
    appendFileSync(join(node.folder, 'postgresql.conf'), CONFIGURATION);
    await node.start();
    return node;
  }

  /** Creates and starts a standby. Its name is its entry in `synchronous_standby_names`. */
  static async follow(primary: PostgresNode, name: string, workspace: Workspace): Promise<PostgresNode> {
    const node = await PostgresNode.in(workspace, name);
    await primary.copyTo(node.folder, `application_name=${name}`, '--write-recovery-conf');
    await node.start();
    return node;
  }

  private static async in(workspace: Workspace, name: string): Promise<PostgresNode> {
    const folders = [subfolder(workspace, name), subfolder(workspace, `${name}-backup`)] as const;
    for (const folder of folders) giveTo(USER, folder);
    const node = new PostgresNode(name, await freePort(), ...folders);
    workspace.teardown.add(() => node.stop());
    return node;
  }

  async start(): Promise<void> {
    const options = ['-D', this.folder, '-p', String(this.port)];
    this.daemon = Daemon.start(this.name, USER, postgresProgram('postgres'), options);
    await this.daemon.until(async () => (await this.query('SELECT 1')).length === 1);
  }

  /** Stops the replication to a standby, which receives no later commits. */
  async unfollow(): Promise<void> {
    await this.set('primary_conninfo', '');
    await this.daemon!.until(async () => (await this.query('SELECT 1 FROM pg_stat_wal_receiver')).length === 0);
  }

  /** Makes a backup for `restore`. */
  async backUp(): Promise<void> {
    await this.copyTo(this.backup);
  }

  /** Starts from the backup. Disables synchronous replication, because the node has no standby. */
  async restore(): Promise<void> {
    rmSync(this.folder, { recursive: true });
    cpSync(this.backup, this.folder, { recursive: true });
    appendFileSync(join(this.folder, 'postgresql.auto.conf'), "synchronous_standby_names = ''\n");
    giveTo(USER, this.folder);
    await this.start();
  }

  private async copyTo(folder: string, connection = '', ...options: readonly string[]): Promise<void> {
    await run(USER, postgresProgram('pg_basebackup'), [
      ...['--dbname', `host=127.0.0.1 port=${this.port} user=postgres ${connection}`],
      ...['--pgdata', folder, '--checkpoint', 'fast', '--no-sync', ...options],
    ]);
  }

  async query(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    return queryPostgres(`postgres://postgres@127.0.0.1:${this.port}/${database}`, sql);
  }

  private async set(setting: string, value: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET ${setting} = '${value}'`);
    await this.query('SELECT pg_reload_conf()');
  }

  /** Promotes a standby to primary. Commits do not wait for a standby until one is added. */
  async promote(): Promise<void> {
    await this.waitForNobody();
    await this.query('SELECT pg_promote()');
    await this.daemon!.until(
      async () => (await this.query('SHOW transaction_read_only'))[0]!['transaction_read_only'] === 'off',
    );
  }

  /** Lets commits succeed before a standby has received them. */
  async waitForNobody(): Promise<void> {
    await this.set('synchronous_standby_names', '');
  }

  /** Makes each commit wait until a standby has written it to disk. */
  async waitFor(standby: PostgresNode): Promise<void> {
    await this.set('synchronous_standby_names', standby.name);
    const replicating = `SELECT 1 FROM pg_stat_replication WHERE application_name = '${standby.name}' AND sync_state = 'sync'`;
    await this.daemon!.until(async () => (await this.query(replicating)).length === 1);
  }

  /** Starts a server that was shut down as a standby of the new primary. */
  async rejoin(primary: PostgresNode): Promise<void> {
    const connection = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${this.name}`;
    appendFileSync(join(this.folder, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
    writeFileSync(join(this.folder, 'standby.signal'), '');
    await this.start();
  }

  override async kill(): Promise<void> {
    await super.kill();
    this.removeSharedMemory();
  }

  /** Closes all connections and shuts down. */
  override async stop(): Promise<void> {
    await this.daemon?.stop('SIGINT');
    this.removeSharedMemory();
  }

  /** Removes the shared memory of a killed server, which otherwise remains until the server starts again. */
  private removeSharedMemory(): void {
    const file = join(this.folder, 'postmaster.pid');
    if (!existsSync(file)) return;
    const [, id] = readFileSync(file, 'utf8').split('\n')[6]?.trim().split(/\s+/) ?? [];
    // The shared memory may already have been removed.
    if (id) spawnSync('ipcrm', ['--shmem-id', id], { stdio: 'ignore' });
  }
}
