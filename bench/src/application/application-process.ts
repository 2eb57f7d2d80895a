import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createDatabase } from '../../../test/support/databases';
import { writeOptions } from '../../../test/support/sqlite';
import type { Headers } from '../contenders/contender';
import type { Teardown } from '../measure/teardown';
import type { DatabaseName } from '../settings';
import type { ApplicationSpec, Listening } from './spec';

const ROOT = join(__dirname, '../../..');
/** The number of sessions that the requests of a measurement cycle through. */
export const SESSIONS = 100;

const START_MS = 120_000;
const STOP_MS = 5_000;

/** A process that runs `server.ts`. */
export class ApplicationProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    readonly headers: readonly Headers[],
  ) {}

  /**
   * Starts the process. Resolves when it listens and has created its sessions.
   * @param project the tsconfig.json whose paths say where the library is. Default: that of the repository, and so the
   *   library's sources
   */
  static async start(spec: ApplicationSpec, project = join(ROOT, 'tsconfig.json')): Promise<ApplicationProcess> {
    const script = `require('@swc-node/register'); require(${JSON.stringify(join(__dirname, 'server.ts'))})`;
    const child = spawn(process.execPath, ['--expose-gc', '-e', script], {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        NODE_NO_WARNINGS: '1',
        SWC_NODE_PROJECT: project,
        APPLICATION_SPEC: writeOptions(spec),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk: Buffer) => (output = (output + String(chunk)).slice(-4_000)));
    }
    const abort = new AbortController();
    const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
    try {
      const exited = once(child, 'exit', { signal: abort.signal }).then(() => {
        throw new Error(`The application of ${spec.contender} exited before it listened: ${output}`);
      });
      const listening = once(child, 'message', { signal: abort.signal });
      const [{ port, headers }] = (await Promise.race([listening, exited])) as [Listening];
      return new ApplicationProcess(child, `http://127.0.0.1:${port}`, headers);
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Returns the used heap of the process after a garbage collection, in bytes. */
  async heapUsed(): Promise<number> {
    const reply = once(this.child, 'message');
    this.child.send('heap');
    return ((await reply) as [number])[0];
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(timer);
  }
}

/** Starts a contender on a new database of the named kind. The teardown stops it and drops the database. */
export async function startOnNewDatabase(
  { database, ...spec }: Omit<ApplicationSpec, 'database'> & { readonly database: DatabaseName },
  teardown: Teardown,
  project?: string,
): Promise<ApplicationProcess> {
  const created = await createDatabase(database, { isDurable: true });
  teardown.add(() => created.drop());
  const application = await ApplicationProcess.start({ ...spec, database: created.options }, project);
  teardown.add(() => application.stop());
  return application;
}
