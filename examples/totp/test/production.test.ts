import assert from 'node:assert/strict';
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
