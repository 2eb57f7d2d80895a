import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { NodeBinary } from './node-binaries';
import { attempt, ROOT, run, whileListening } from './run';

const COMMANDS = /^(npm ci) && (npm start)\b/m;

/**
 * Runs the README's commands as a reader would, in a clean clone of the last commit, and logs in. Returns the version of
 * Node, the driver of SQLite, and the result.
 */
export async function tryReadme(work: string, node: NodeBinary): Promise<string[]> {
  const sqlite = node.hasSqlite ? 'node:sqlite' : 'better-sqlite3';
  const folder = join(work, `clone-on-${node.version}`);
  const name = `README, Node ${node.version}, ${sqlite}`;
  const result = await attempt(name, () => installAndStart(folder, node));
  rmSync(folder, { recursive: true, force: true });
  return [node.version, `\`${sqlite}\``, result];
}

async function installAndStart(folder: string, node: NodeBinary): Promise<void> {
  const [, install, start] = COMMANDS.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))!;
  mkdirSync(folder);
  run('git', ['clone', '--quiet', ROOT, '.'], folder);
  const env = environmentOf(node);
  run('sh', ['-c', install!], folder, env);
  // npm, the shell that npm starts, and the application run in one process group.
  const options = { cwd: folder, env: { ...env, PORT: '0' }, detached: true } as const;
  const sample = spawn('sh', ['-c', start!], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  await whileListening(sample, /Listening on (\S+)\n/, logIn, () => process.kill(-sample.pid!, 'SIGTERM'));
}

/**
 * The environment of a reader's shell: this Node comes first, and no variable of this repository is set. Node's
 * headers are local, so that nothing is downloaded.
 */
function environmentOf(node: NodeBinary): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of ['NODE_ENV', 'SWC_NODE_PROJECT', 'DATABASE_URL', 'HOST']) delete env[name];
  return {
    ...env,
    PATH: `${dirname(node.path)}${delimiter}${env['PATH']}`,
    npm_config_nodedir: join(dirname(node.path), '..'),
  };
}

async function logIn(url: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ username: 'alice', password: 'secret' });
  const login = await fetch(`${url}/auth/login/`, { method: 'POST', headers, body });
  assert.equal(login.status, 200);
  const { access_token: token } = (await login.json()) as { access_token: string };
  const me = await fetch(`${url}/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(((await me.json()) as { username?: string }).username, 'alice');
}
