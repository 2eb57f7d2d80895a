import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type DatabaseName } from '../support/databases';

export const ROOT = join(__dirname, '../..');

const START_MS = 120_000;

/**
 * Runs a command and returns its output.
 *
 * @throws with the output if the command fails
 */
export function run(command: string, args: readonly string[], cwd: string, env = process.env): string {
  try {
    return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

export function npmInstall(folder: string, ...args: readonly string[]): void {
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...args], folder);
}

const failures: string[] = [];

/** Makes attempts in a temporary folder, and prints the failures. The process then fails if an attempt failed. */
export async function runAttempts(prefix: string, makeAttempts: (work: string) => Promise<void>): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), prefix));
  try {
    await makeAttempts(work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  for (const failure of failures) console.error(`\n${failure}`);
  console.log(`\n${failures.length} failures.`);
  if (failures.length > 0) process.exitCode = 1;
}

export async function attempt(name: string, work: () => Promise<void>): Promise<'works' | 'fails'> {
  const before = performance.now();
  const error = await work().then(
    () => null,
    (thrown: Error) => thrown,
  );
  if (error) failures.push(`${name}: ${error.message}`);
  const result = error ? 'fails' : 'works';
  console.log(`${name}: ${result} (${Math.round((performance.now() - before) / 1_000)} s)`);
  return result;
}

/** Starts an application on an empty database, calls `use` with its URL, and stops it. */
export async function withApplication(
  entry: string,
  node: string,
  name: DatabaseName,
  use: (url: string) => Promise<void>,
  more: NodeJS.ProcessEnv = {},
): Promise<void> {
  const { options, drop } = await createDatabase(name);
  try {
    const env = { ...process.env, NODE_ENV: 'test', APPLICATION_DATABASE: JSON.stringify(options), ...more };
    const application = spawn(node, [entry], { stdio: ['ignore', 'pipe', 'pipe'], env });
    await whileListening(application, /listening (\d+)/, (port) => use(`http://127.0.0.1:${port}`));
  } finally {
    await drop();
  }
}

/**
 * Waits for the process to print its address, calls `use` with the match, and stops the process.
 *
 * @throws with the output of the process if it fails or does not listen in time
 */
export async function whileListening(
  child: ChildProcess,
  address: RegExp,
  use: (address: string) => Promise<void>,
  stop: () => unknown = () => child.kill(),
): Promise<void> {
  let output = '';
  const ended = once(child, 'close') as Promise<[number | null]>;
  const listening = new Promise<string>((resolve) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        output += String(chunk);
        const found = address.exec(output)?.[1];
        if (found) resolve(found);
      });
    }
  });
  try {
    const early = ended.then(([code]) => Promise.reject(new Error(`The process ended with ${code}`)));
    const late = once(AbortSignal.timeout(START_MS), 'abort').then(() =>
      Promise.reject(new Error(`It does not listen after ${START_MS} ms`)),
    );
    await use(await Promise.race([listening, early, late]));
  } catch (error) {
    throw new Error(`${(error as Error).message}\nIt printed:\n${output}`, { cause: error });
  } finally {
    if (child.exitCode === null && child.signalCode === null) stop();
    await ended;
  }
}
