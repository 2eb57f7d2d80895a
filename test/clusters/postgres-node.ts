import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { Daemon, giveTo, run } from './daemon';
import { freePort } from './ports';
import { subfolder, type Workplace } from './workplace';

const USER = 'postgres';
const ALL_VERSIONS = '/usr/lib/postgresql';

/** Only processes are killed here, never the machine: what is not flushed to the disk is not lost. */
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

/** Programs of PostgreSQL, which Debian keeps outside of the path. */
export function postgresProgram(name: string): string {
  if (!existsSync(ALL_VERSIONS)) return name;
  const newest = readdirSync(ALL_VERSIONS).sort((a, b) => Number(b) - Number(a))[0]!;
  return join(ALL_VERSIONS, newest, 'bin', name);
}

/** A PostgreSQL server with a data directory of its own. */
export class PostgresNode {
  private daemon: Daemon | undefined;

  private constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly backup: string,
    readonly port: number,
  ) {}

  /** A new primary, started. */
  static async create(name: string, workplace: Workplace): Promise<PostgresNode> {
    const node = await PostgresNode.in(workplace, name);
    await run(USER, postgresProgram('initdb'), [
      ...['--pgdata', node.folder, '--username', 'postgres', '--auth', 'trust', '--no-sync', '--no-instructions'],
      ...['--encoding', 'UTF8', '--locale', 'C.UTF-8'],
    ]);
    appendFileSync(join(node.folder, 'postgresql.conf'), CONFIGURATION);
    await node.start();
    return node;
  }

  /** A new standby of a primary, started; it is called by its name in `synchronous_standby_names`. */
  static async follow(primary: PostgresNode, name: string, workplace: Workplace): Promise<PostgresNode> {
    const node = await PostgresNode.in(workplace, name);
    await primary.copyTo(node.folder, `application_name=${name}`, '--write-recovery-conf');
    await node.start();
    return node;
  }

  private static async in(workplace: Workplace, name: string): Promise<PostgresNode> {
    const node = new PostgresNode(
      name,
      subfolder(workplace, name),
      subfolder(workplace, `${name}-backup`),
      await freePort(),
    );
    for (const folder of [node.folder, node.backup]) giveTo(USER, folder);
    workplace.teardown.add(() => node.stop());
    return node;
  }

  async start(): Promise<void> {
    this.daemon = Daemon.start(this.name, USER, postgresProgram('postgres'), [
      ...['-D', this.folder, '-p', String(this.port)],
    ]);
    await this.daemon.until(async () => (await this.query('SELECT 1')).length === 1);
  }

  /** Ends the replication to a standby: what the primary commits from now on, it does not get. */
  async unfollow(): Promise<void> {
    await this.query("ALTER SYSTEM SET primary_conninfo = ''");
    await this.query('SELECT pg_reload_conf()');
    await this.daemon!.until(async () => (await this.query('SELECT 1 FROM pg_stat_wal_receiver')).length === 0);
  }

  /** Makes a backup, which `restore` takes. */
  async backUp(): Promise<void> {
    await this.copyTo(this.backup);
  }

  /** Starts from the backup, in which commits wait for a standby that is not there. */
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
    const connectionString = `postgres://postgres@127.0.0.1:${this.port}/${database}`;
    const client = new Client({ connectionString, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Makes a standby the primary. It waits for no standby of its own until it is given one. */
  async promote(): Promise<void> {
    await this.waitForNobody();
    await this.query('SELECT pg_promote()');
    await this.daemon!.until(
      async () => (await this.query('SHOW transaction_read_only'))[0]!['transaction_read_only'] === 'off',
    );
  }

  /** Lets commits succeed that no standby has yet. */
  async waitForNobody(): Promise<void> {
    await this.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await this.query('SELECT pg_reload_conf()');
  }

  /** Makes each commit wait until a standby has it on disk. */
  async waitFor(standby: PostgresNode): Promise<void> {
    await this.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby.name}'`);
    await this.query('SELECT pg_reload_conf()');
    const replicating = `SELECT 1 FROM pg_stat_replication WHERE application_name = '${standby.name}' AND sync_state = 'sync'`;
    await this.daemon!.until(async () => (await this.query(replicating)).length === 1);
  }

  /** Starts a server that was shut down as a standby of what has become the primary since. */
  async rejoin(primary: PostgresNode): Promise<void> {
    const connection = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${this.name}`;
    appendFileSync(join(this.folder, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
    writeFileSync(join(this.folder, 'standby.signal'), '');
    await this.start();
  }

  freeze(): void {
    this.daemon?.freeze();
  }

  thaw(): void {
    this.daemon?.thaw();
  }

  async kill(): Promise<void> {
    await this.daemon?.kill();
    this.removeSharedMemory();
  }

  /** Ends all connections and shuts down. */
  async stop(): Promise<void> {
    await this.daemon?.stop('SIGINT');
    this.removeSharedMemory();
  }

  /** A server that was killed leaves a few bytes of shared memory, which only its next start would remove. */
  private removeSharedMemory(): void {
    const file = join(this.folder, 'postmaster.pid');
    if (!existsSync(file)) return;
    const [, id] = readFileSync(file, 'utf8').split('\n')[6]?.trim().split(/\s+/) ?? [];
    // It may be gone already.
    if (id) spawnSync('ipcrm', ['--shmem-id', id], { stdio: 'ignore' });
  }
}
