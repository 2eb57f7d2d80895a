import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { writeOptions } from '../support/sqlite';

const ROOT = join(__dirname, '../..');

/** A `server.ts` process. */
export class ServerProcess {
  output = '';
  /** The names of the emitted signals. */
  readonly signals: string[] = [];

  private constructor(
    private readonly child: ChildProcess,
    private readonly listening: Promise<number>,
  ) {}

  static start(database: DataSourceOptions, options: AuthModuleOptions): ServerProcess {
    const script = `require('@swc-node/register'); require('${join(ROOT, 'test/crash/server.ts')}')`;
    const child = spawn(process.execPath, ['-e', script], {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'test',
        // On Node 22 `node:sqlite` prints a warning.
        NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
        SWC_NODE_PROJECT: join(ROOT, 'tsconfig.json'),
        DATABASE: writeOptions(database),
        AUTH_OPTIONS: JSON.stringify({ bcryptCost: 4, ...options }),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const listening = new Promise<number>((resolve, reject) => {
      child.on('message', ({ port, signal }: { port?: number; signal?: string }) => {
        if (port !== undefined) resolve(port);
        if (signal !== undefined) server.signals.push(signal);
      });
      child.once('exit', () => reject(new Error(`The server ended before it listened: ${server.output}`)));
    });
    listening.catch(() => undefined);
    const server = new ServerProcess(child, listening);
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk: Buffer) => (server.output += String(chunk)));
    }
    return server;
  }

  /** Returns the URL once the server listens. */
  async url(): Promise<string> {
    return `http://127.0.0.1:${await this.listening}`;
  }

  /** Closes the application. Returns the exit code, or null if the process does not exit within 60 seconds. */
  async stop(): Promise<number | null> {
    const late = setTimeout(() => this.child.kill('SIGKILL'), 60_000);
    this.child.send('close');
    const [code] = (await once(this.child, 'close')) as [number | null];
    clearTimeout(late);
    return code;
  }

  /** Kills the server with SIGKILL, so that it cannot finish anything. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}
