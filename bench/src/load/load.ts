import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Headers } from '../contenders/contender';

export const LOAD_TOOLS = ['wrk', 'node'] as const;

/** A load tool. `wrk` needs less processor time, but sends no bodies. `node` is the HTTP client of Node.js. */
export type LoadTool = (typeof LOAD_TOOLS)[number];

export interface LoadJob {
  /** The full URL of the route. */
  readonly url: string;
  /** The headers of the requests. Each connection cycles through all of them, from its own starting point. */
  readonly headers: readonly Headers[];
  /** Bodies of POST requests, which replace the headers. Each connection cycles through all of them in the same way. */
  readonly bodies?: readonly object[];
  /**
   * The name of a field, such as `refresh_token`. Connection n starts with body n, and its next request contains this
   * field of the previous response.
   */
  readonly follow?: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requests: number;
  /** The measured duration. */
  readonly seconds: number;
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The number of requests without a response. */
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The additional time for the process to start and to exit. */
const SLACK_MS = 30_000;

/** Runs a job in its own process, so that client and server do not share an event loop. */
export function runLoad(tool: LoadTool, job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const timeout = job.seconds * 1000 + SLACK_MS;
    const child = spawn(process.execPath, [join(__dirname, `${tool}.mjs`)], { timeout, killSignal: 'SIGKILL' });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => (output += String(chunk)));
    child.stderr.on('data', (chunk: Buffer) => (errors += String(chunk)));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as LoadResult);
      else reject(new Error(`${tool} exited with ${code}: ${errors.slice(-2_000)}`));
    });
    child.stdin.on('error', reject);
    child.stdin.end(JSON.stringify(job));
  });
}

/**
 * Throws unless every response had the expected status, by default 200. Refusals are faster than successes, so they
 * would distort the comparison.
 */
export function assertAllSucceeded(who: string, result: LoadResult, expected = 200): void {
  const bad = Object.keys(result.statuses).filter((status) => status !== String(expected));
  if (bad.length > 0 || result.errors > 0 || result.requests === 0) {
    throw new Error(
      `${who} responded ${JSON.stringify(result.statuses)}, and ${result.errors} requests got no response`,
    );
  }
}
