import { spawn } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { EXAMPLES } from '../docs/examples';
import { freePort } from '../support/port';
import { packLibrary } from './installation';
import { nodeBinary } from './node-binaries';
import { attempt, ROOT, run, runAttempts, whileListening } from './run';

/** The first line of Node that has `node:sqlite`, with which the examples store their data. */
const NODE = '22';

/** Installs, tests and starts each example in an empty folder with the packed library. */
async function main(names: readonly string[]): Promise<void> {
  const existing = EXAMPLES.map(({ name }) => name);
  const unknown = names.find((name) => !existing.includes(name));
  if (unknown) throw new Error(`No example '${unknown}'. There are: ${existing.join(', ')}.`);
  const chosen = names.length > 0 ? names : existing;
  await runAttempts('nsa-examples-', async (work) => {
    prepare(work);
    const node = dirname(nodeBinary(NODE).path);
    const env = { ...process.env, PATH: `${node}${delimiter}${process.env['PATH']}`, NODE_ENV: 'test' };
    for (const name of chosen) await attempt(name, () => tryExample(join(work, 'examples', name), env));
  });
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

async function tryExample(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  run('npm', ['ci'], folder, env);
  run('npm', ['test', '--if-present'], folder, env);
  const port = String(await freePort());
  const child = spawn('npm', ['start'], { cwd: folder, env: { ...env, PORT: port }, detached: true });
  const open = async (url: string): Promise<void> => {
    const { status } = await fetch(url);
    if (status !== 200) throw new Error(`GET / of the started example is ${status}`);
  };
  // npm starts a shell, which starts node. All of them are in this process group.
  const stop = (): boolean => process.kill(-child.pid!, 'SIGTERM');
  await whileListening(child, new RegExp(`(http://localhost:${port})`), open, stop);
}

void main(process.argv.slice(2));
