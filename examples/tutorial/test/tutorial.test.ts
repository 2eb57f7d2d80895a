import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';

const PASSWORD = 'correct horse battery staple';
const stops: (() => Promise<void>)[] = [];
let origin: string;
let printed = '';

before(async () => {
  origin = await start({}, (text) => (printed += text));
});

after(() => Promise.all(stops.map((stop) => stop())));

/** Starts the application in an empty folder until the tests end. Returns its origin. */
async function start(env: Record<string, string>, print: (text: string) => string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tutorial-'));
  cpSync('public', join(folder, 'public'), { recursive: true });
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const main = join(import.meta.dirname, '../src/main.js');
  const server = spawn(process.execPath, [main], { cwd: folder, env: { ...process.env, PORT: String(port), ...env } });
  stops.push(async () => {
    server.kill();
    await once(server, 'exit');
    rmSync(folder, { recursive: true });
  });
  server.stderr.on('data', (data) => print(String(data)));
  await new Promise<void>((resolve, reject) => {
    let output = '';
    server.stdout.on('data', (data) => {
      output = print(String(data));
      if (output.includes(`Open ${url}/sessions.html`)) resolve();
    });
    server.on('exit', () => reject(new Error(output)));
  });
  return url;
}

const post = (path: string, body: object, headers = {}, url = origin) =>
  fetch(`${url}/auth/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const get = (path: string, token: string) =>
  fetch(`${origin}${path}`, { headers: { Authorization: `Bearer ${token}` } });

it('npm start creates no user in production, because the password of the user is published', async () => {
  let output = '';
  const production = await start({ NODE_ENV: 'production' }, (text) => (output += text));
  const { status } = await post('login/', { username: 'alice', password: PASSWORD }, {}, production);
  assert.equal(status, 400);
});

it('npm start fails in production if an earlier start in development has created the user', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tutorial-'));
  const run = async (NODE_ENV: string): Promise<string> => {
    const env = { ...process.env, NODE_ENV, PORT: '0' };
    const server = spawn(process.execPath, [join(import.meta.dirname, '../src/main.js')], { cwd: folder, env });
    let output = '';
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', (data) => {
        output += String(data);
        if (output.includes('Open http')) server.kill();
      });
    }
    await once(server, 'close');
    return output;
  };
  assert.match(await run('development'), /Open http/);
  assert.match(await run('production'), /Change the published password of alice/);
  rmSync(folder, { recursive: true });
});

it('the tutorial application guards a route, refreshes a session, and ends every session after token reuse', async () => {
  assert.equal((await fetch(`${origin}/me`)).status, 401);
  const login = await post('login/', { username: 'alice', password: PASSWORD });
  const first = (await login.json()) as Record<'access_token' | 'refresh_token', string>;
  const me = await get('/me', first.access_token);
  assert.deepEqual([me.status, ((await me.json()) as { username: string }).username], [200, 'alice']);

  const asPage = { Origin: origin, 'X-Auth-Transport': 'cookie' };
  const browser = await post('login/', { username: 'alice', password: PASSWORD }, asPage);
  const cookie = browser.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const sessions = await fetch(`${origin}/auth/sessions/`, { headers: { ...asPage, cookie } });
  assert.equal(((await sessions.json()) as unknown[]).length, 2);

  const refresh = await post('token/refresh/', { refresh_token: first.refresh_token });
  const second = (await refresh.json()) as typeof first;
  assert.equal((await get('/me', second.access_token)).status, 200);

  const reuse = await post('token/refresh/', { refresh_token: first.refresh_token });
  assert.equal(reuse.status, 400);
  assert.equal((await get('/me', second.access_token)).status, 401);
  assert.equal((await fetch(`${origin}/auth/sessions/`, { headers: { ...asPage, cookie } })).status, 401);
  assert.match(printed, /SecurityAlerts.*refresh token reused from 127.0.0.1, 2 sessions ended/);
});

it('the tutorial application serves the page that lists sessions, which no other page can frame', async () => {
  const page = await fetch(`${origin}/sessions.html`);
  assert.equal(page.headers.get('content-security-policy'), "frame-ancestors 'none'; form-action 'none'");
  assert.match(await page.text(), /<title>Your sessions<\/title>/);
});

it('the tutorial application accepts connections only from the computer itself', async () => {
  await assert.rejects(fetch(origin.replace('localhost', '127.0.0.2')));
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}
