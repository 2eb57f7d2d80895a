import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { freePort } from './free-port.js';

it('npm start creates no user in production, because the password of the user is published', async () => {
  const port = String(await freePort());
  Object.assign(process.env, { PORT: port, DATABASE: ':memory:', NODE_ENV: 'production' });
  await import('../src/main.js');
  const body = JSON.stringify({ username: 'alice', password: 'correct horse battery staple' });
  const headers = { 'Content-Type': 'application/json' };
  const { status } = await fetch(`http://localhost:${port}/login`, { method: 'POST', body, headers });
  assert.equal(status, 400);
});

it('npm start fails in production if an earlier start in development has created the user', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'totp-'));
  const start = async (NODE_ENV: string): Promise<string> => {
    const env = { ...process.env, NODE_ENV, PORT: '0', DATABASE: join(folder, 'example.sqlite') };
    const server = spawn(process.execPath, [join(import.meta.dirname, '../src/main.js')], { env });
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
  assert.match(await start('development'), /Open http/);
  assert.match(await start('production'), /The password of alice is published/);
  rmSync(folder, { recursive: true });
});
