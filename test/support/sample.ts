import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestDatabase } from './databases';

/** Returns the sample's `DATABASE_URL` for a database. */
export function urlOf({ options }: TestDatabase): string {
  return options.type === 'better-sqlite3' ? `sqlite:${options.database}` : (options as { url: string }).url;
}

const START = join(__dirname, '../../scripts/start.mjs');

/** A sample application in its own process, started as by `npm start`. */
export class Sample {
  output = '';
  private closed = false;

  private constructor(private readonly process: ChildProcess) {
    // `close` comes after `exit`, with the last output.
    process.once('close', () => (this.closed = true));
    for (const stream of [process.stdout!, process.stderr!]) {
      stream.on('data', (chunk: Buffer) => (this.output += String(chunk)));
    }
  }

  static start(env: Record<string, string>): Sample {
    const process_ = spawn(process.execPath, [START], {
      env: { PATH: process.env['PATH'], PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Sample(process_);
  }

  /** Returns the URL once the sample listens. */
  async url(): Promise<string> {
    for (;;) {
      const url = /Listening on (\S+)/.exec(this.output)?.[1];
      if (url && this.output.includes('Try: curl')) return url;
      if (this.closed) throw new Error(`The sample exited before it was ready: ${this.output}`);
      await Promise.race([once(this.process.stdout!, 'data'), once(this.process, 'close')]);
    }
  }

  async stop(): Promise<number | null> {
    this.process.kill('SIGTERM');
    return this.waitForExit();
  }

  async waitForExit(): Promise<number | null> {
    if (!this.closed) await once(this.process, 'close');
    return this.process.exitCode;
  }
}
