import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const isRoot = process.getuid?.() === 0;

/** A server process in the foreground. It is killed if this process ends without stopping it. */
export class Daemon {
  private output = '';

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    private readonly others: () => readonly number[],
  ) {}

  /**
   * @param user runs the server if this process is root, because most servers refuse to run as root
   * @param others returns the ids of processes that belong to the server but are not its descendants
   */
  static start(
    name: string,
    user: string,
    command: string,
    args: readonly string[],
    others: () => readonly number[] = () => [],
  ): Daemon {
    const child = spawn('setpriv', [...asUser(user), '--pdeathsig', 'KILL', command, ...args], {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const daemon = new Daemon(name, child, others);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (daemon.output = (daemon.output + String(chunk)).slice(-20_000)));
    }
    // `until` reports a command that cannot be run.
    child.on('error', (error) => (daemon.output += error.message));
    return daemon;
  }

  get isRunning(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Polls until the server responds as expected. */
  async until(isReady: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
    const end = performance.now() + withinMs;
    while (!(await isReady().catch(() => false))) {
      if (!this.isRunning || performance.now() > end) {
        throw new Error(`${this.name} did not get ready: ${this.output.slice(-4_000)}`);
      }
      await sleep(50);
    }
  }

  /** Freezes every process of the server. As on a machine that hangs, its connections stay open. */
  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  /** Kills every process of the server, as a power failure does. */
  async kill(): Promise<void> {
    const pids = this.signal('SIGKILL');
    while (pids.some(isAlive)) await sleep(10);
  }

  /** Stops the server with a signal, and kills it if it does not end in time. */
  async stop(signal: NodeJS.Signals, withinMs = 20_000): Promise<void> {
    if (!this.isRunning) return;
    const exited = once(this.child, 'exit');
    this.thaw();
    this.child.kill(signal);
    await Promise.race([exited, sleep(withinMs, undefined, { ref: false })]);
    await this.kill();
  }

  private signal(signal: NodeJS.Signals): number[] {
    if (!this.isRunning) return [];
    const pids = [this.child.pid!, ...this.others()].flatMap(familyOf);
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // The process has ended in the meantime.
      }
    }
    return pids;
  }
}

/** A database server with its own data directory. */
export abstract class ServerNode {
  /** The process, once the server was started. */
  daemon: Daemon | undefined;

  constructor(
    readonly name: string,
    readonly port: number,
    protected readonly folder: string,
  ) {}

  /** Shuts the server down. */
  async stop(): Promise<void> {
    await this.daemon?.stop('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.daemon?.kill();
  }
}

/** Runs a command to completion and returns its output. */
export async function run(user: string, command: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await execute('setpriv', [...asUser(user), '--pdeathsig', 'KILL', command, ...args], {
    cwd: '/',
    maxBuffer: 2 ** 26,
  });
  return stdout + stderr;
}

/** Changes the owner of a folder to the user that a server runs as. */
export function giveTo(user: string, folder: string): void {
  if (isRoot) execFileSync('chown', ['-R', `${user}:`, folder]);
}

function asUser(user: string): string[] {
  if (!isRoot) return [];
  const group = execFileSync('id', ['-g', user], { encoding: 'utf8' }).trim();
  return [`--reuid=${user}`, `--regid=${group}`, '--init-groups'];
}

/** Returns the process and its descendants, including PostgreSQL's processes, which start their own sessions. */
function familyOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? statOf(Number(entry)) : null;
    if (stat) parents.set(Number(entry), stat.parent);
  }
  const family = [pid];
  for (const member of family) {
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  }
  return family;
}

function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== null && stat.state !== 'Z';
}

function statOf(pid: number): { state: string; parent: number } | null {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return { state: state!, parent: Number(parent) };
  } catch {
    return null;
  }
}
