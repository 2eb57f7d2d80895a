import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { NOBODY, type Workspace } from './workspace';

/** Arguments of `setpriv`: a command ends with this process, and does not run as root, which most servers refuse. */
const UNPRIVILEGED = [
  ...(NOBODY ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []),
  ...['--pdeathsig', 'KILL'],
];

export async function run(command: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: '/', maxBuffer: 2 ** 26 };
  const { stdout, stderr } = await promisify(execFile)('setpriv', [...UNPRIVILEGED, command, ...args], options);
  return stdout + stderr;
}

export type Row = Record<string, unknown>;

export async function query(url: string, sql: string): Promise<Row[]> {
  const dataSource = url.startsWith('postgres:')
    ? new DataSource({ type: 'postgres', url, connectTimeoutMS: 2_000, extra: { query_timeout: 60_000 } })
    : new DataSource({ type: 'mysql', url, connectTimeout: 2_000 });
  await dataSource.initialize();
  try {
    return await dataSource.query<Row[]>(sql);
  } finally {
    await dataSource.destroy();
  }
}

export class Server {
  readonly port: number;
  /** The port with which HAProxy checks the server. */
  readonly checkPort: number;
  readonly folder: string;
  protected readonly shutdownSignal: NodeJS.Signals = 'SIGTERM';
  private child: ChildProcess | undefined;
  private output = '';

  constructor(
    protected readonly workspace: Workspace,
    readonly name: string,
  ) {
    this.port = this.checkPort = workspace.freePort();
    this.folder = workspace.subfolder(name);
    workspace.teardown.add(() => this.stop());
  }

  async launch(command: string, args: readonly string[], isReady: () => Promise<boolean>): Promise<void> {
    this.child = spawn('setpriv', [...UNPRIVILEGED, command, ...args], { cwd: this.folder });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.on('data', (chunk: Buffer) => (this.output = (this.output + String(chunk)).slice(-4_000)));
    }
    await this.until(isReady);
  }

  /** Polls for two minutes until the condition holds. Fails if the process ends. */
  async until(condition: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + 120_000;
    while (!(await condition().catch(() => false))) {
      if (!this.isRunning || performance.now() > end) throw new Error(`${this.name} did not get ready: ${this.output}`);
      await sleep(50);
    }
  }

  /** Replaces the data of the server, which must not run. */
  async copyFrom(folder: string): Promise<void> {
    await run('rm', '-r', this.folder);
    await run('cp', '-r', folder, this.folder);
  }

  /** Freezes every process of the server for some time. As on a machine that hangs, its connections stay open. */
  async freeze(forMs: number, meanwhile = (): Promise<void> => Promise.resolve()): Promise<void> {
    this.signal('SIGSTOP');
    await sleep(forMs);
    await meanwhile();
    this.signal('SIGCONT');
  }

  /** Kills every process of the server, as a power failure does. */
  async kill(): Promise<void> {
    while (this.signal('SIGKILL') > 0) await sleep(10);
  }

  /** Shuts the server down, and kills it if it does not end in time. */
  async stop(): Promise<void> {
    if (this.isRunning) {
      const exited = once(this.child!, 'exit');
      this.signal('SIGCONT');
      this.child!.kill(this.shutdownSignal);
      await Promise.race([exited, sleep(20_000, undefined, { ref: false })]);
    }
    await this.kill();
  }

  private get isRunning(): boolean {
    return this.child?.exitCode === null && this.child.signalCode === null;
  }

  /**
   * Sends a signal to the processes that work in the folder of the server, and returns their number. The PostgreSQL
   * of a Patroni is not its descendant.
   */
  private signal(signal: NodeJS.Signals): number {
    let count = 0;
    for (const pid of readdirSync('/proc').map(Number)) {
      try {
        if (!(pid > 0 && readlinkSync(`/proc/${pid}/cwd`).startsWith(this.folder))) continue;
        count++;
        process.kill(pid, signal);
      } catch {
        // The process has ended in the meantime.
      }
    }
    return count;
  }
}
