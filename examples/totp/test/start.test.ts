import assert from 'node:assert/strict';
import { it } from 'node:test';
import { freePort } from './free-port.js';

it('npm start serves an application whose routes read no forms, which other sites could submit', async () => {
  const port = String(await freePort());
  Object.assign(process.env, { PORT: port, DATABASE: ':memory:' });
  await import('../src/main.js');
  const page = await fetch(`http://localhost:${port}/`);
  assert.equal(page.headers.get('Content-Security-Policy'), "frame-ancestors 'none'");
  const send = async (path: string, body: string | URLSearchParams, type?: string): Promise<number> => {
    const headers = type === undefined ? {} : { 'Content-Type': type };
    return (await fetch(`http://localhost:${port}${path}`, { method: 'POST', body, headers })).status;
  };
  const form = new URLSearchParams({ username: 'alice', password: 'wrong' });
  // From the tenth failure on, a login is 429.
  for (let i = 0; i < 11; i += 1) assert.equal(await send('/login', form), 400);
  assert.equal(await send('/login', JSON.stringify(Object.fromEntries(form)), 'text/plain'), 400);
  assert.equal(await send('/login/code', form), 400);
  const right = JSON.stringify({ username: 'alice', password: 'correct horse battery staple' });
  assert.equal(await send('/login', right, 'application/json'), 200);
});
