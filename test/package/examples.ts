import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { nodeBinary } from './node-binaries';
import { packLibrary } from './pack';
import { ROOT, run } from './run';

/** The first line of Node that has `node:sqlite`, with which the examples store their data. */
const NODE = '22';
const TEST_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 60_000;

interface Outcome {
  readonly name: string;
  readonly seconds: number;
  readonly failure: string | null;
}

/** Installs, tests and starts each example in an empty folder with the packed library. */
async function main(names: readonly string[]): Promise<void> {
  const existing = [...new Set(trackedFiles().map((path) => path.split('/')[1]!))];
  const unknown = names.filter((name) => !existing.includes(name));
  if (unknown.length > 0) throw new Error(`No example '${unknown[0]}'. There are: ${existing.join(', ')}.`);
  const work = mkdtempSync(join(tmpdir(), 'nsa-examples-'));
  try {
    prepare(work);
    const node = dirname(nodeBinary(NODE).path);
    const env = { ...process.env, PATH: `${node}${delimiter}${process.env['PATH']}`, NODE_ENV: 'test' };
    const queue = names.length > 0 ? [...names] : existing;
    const outcomes: Outcome[] = [];
    const lane = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
        const outcome = await tryExample(join(work, 'examples', name), name, env);
        outcomes.push(outcome);
        console.log(`${name}: ${outcome.failure ?? 'installed, tested and started'} (${outcome.seconds} s)`);
      }
    };
    await Promise.all([lane(), lane()]);
    const failed = outcomes.filter(({ failure }) => failure !== null);
    console.log(`Examples: ${outcomes.length - failed.length} succeeded, ${failed.length} failed.`);
    if (failed.length > 0) process.exitCode = 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function trackedFiles(): string[] {
  const listed = run('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'examples'], ROOT);
  return listed.split('\n').filter((path) => path.split('/').length > 2);
}

/**
 * Uses the folder layout of the repository, so that `file:../../libs/auth` of an example resolves to the packed
 * library.
 */
function prepare(work: string): void {
  const { auth, client } = packLibrary(work);
  for (const [name, { tarball }] of Object.entries({ auth, client })) {
    const folder = join(work, 'libs', name);
    mkdirSync(folder, { recursive: true });
    run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'], work);
  }
  for (const path of ['tsconfig.base.json', ...trackedFiles()]) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    cpSync(join(ROOT, path), join(work, path));
  }
}

async function tryExample(folder: string, name: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  const began = process.hrtime.bigint();
  let failure: string | null = null;
  try {
    await npm(folder, ['ci'], env);
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    if (scripts['test']) await npm(folder, ['test'], env);
    await startAndOpen(folder, env);
  } catch (error) {
    failure = `failed\n${(error as Error).message}`;
  }
  return { name, seconds: Number((process.hrtime.bigint() - began) / 1_000_000_000n), failure };
}

/** @throws with the output if the command fails or times out */
function npm(folder: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: TEST_TIMEOUT_MS });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += String(data)));
    child.on('error', reject);
    child.on('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`npm ${args.join(' ')} ended with ${code ?? signal}:\n${printed}`)),
    );
  });
}

/** Runs `npm start`, requests the URL that it prints, and stops it. */
async function startAndOpen(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const port = String(await freePort());
  const child = spawn('npm', ['start'], { cwd: folder, env: { ...env, PORT: port }, detached: true });
  let printed = '';
  try {
    await new Promise<void>((resolve, reject) => {
      const onData = (data: Buffer): void => {
        printed += data.toString();
        if (printed.includes(`http://localhost:${port}`)) resolve();
      };
      child.stdout.on('data', onData);
      child.stderr.on('data', onData);
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${printed}`)));
      const onTimeout = (): void => reject(new Error(`npm start printed no address on port ${port}:\n${printed}`));
      setTimeout(onTimeout, START_TIMEOUT_MS).unref();
    });
    const { status } = await fetch(`http://localhost:${port}/`);
    if (status !== 200) throw new Error(`GET / of the started example is ${status}:\n${printed}`);
  } finally {
    // npm starts a shell, which starts node. All of them are in this process group.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
