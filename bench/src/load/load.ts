import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Headers } from '../contenders/contender';

export const LOAD_TOOLS = ['autocannon', 'wrk', 'plain'] as const;

/** `plain` is a loop of our own, for a smoke run without packages; figures are made with the others. */
export type LoadTool = (typeof LOAD_TOOLS)[number];

export interface LoadJob {
  /** The route, whole. */
  readonly url: string;
  /** Each connection goes through all of them, from a place of its own. */
  readonly headers: readonly Headers[];
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requests: number;
  /** How long it really took. */
  readonly seconds: number;
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests without an answer. */
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Beyond what the job takes: the start of the process, and its end. */
const SLACK_MS = 30_000;

/** Runs a job in a process of its own, so that client and server do not share an event loop. */
export function runLoad(tool: LoadTool, job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const timeout = job.seconds * 1000 + SLACK_MS;
    const child = spawn(process.execPath, [join(__dirname, `${tool}.mjs`)], { timeout, killSignal: 'SIGKILL' });
    let output = '';
    let complaint = '';
    child.stdout.on('data', (chunk: Buffer) => (output += String(chunk)));
    child.stderr.on('data', (chunk: Buffer) => (complaint += String(chunk)));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as LoadResult);
      else reject(new Error(`${tool} ended with ${code}: ${complaint.slice(-2_000)}`));
    });
    child.stdin.on('error', reject);
    child.stdin.end(JSON.stringify(job));
  });
}

/** Throws unless everything was answered with 200: a refusal is faster than an answer, and would win. */
export function assertAllGood(who: string, result: LoadResult): void {
  const bad = Object.keys(result.statuses).filter((status) => status !== '200');
  if (bad.length > 0 || result.errors > 0 || result.requests === 0) {
    throw new Error(`${who} answered ${JSON.stringify(result.statuses)}, and ${result.errors} times not at all`);
  }
}
