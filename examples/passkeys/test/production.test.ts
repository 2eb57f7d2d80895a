import { AuthUser } from 'nestjs-session-auth';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { EntityManager } from 'typeorm';
import { startApplication } from './application.js';

it('npm start creates no user in production, because the password of the user is published', async () => {
  process.env['NODE_ENV'] = 'production';
  const { app } = await startApplication();
  after(() => app.close());
  assert.equal(await app.get(EntityManager).count(AuthUser), 0);
});

it('npm start fails in production if an earlier start in development has created the user', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'passkeys-'));
  const start = async (NODE_ENV: string): Promise<string> => {
    const env = { ...process.env, NODE_ENV, PORT: '0', DB: join(folder, 'example.sqlite') };
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
