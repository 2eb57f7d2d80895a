import assert from 'node:assert/strict';
import { it } from 'node:test';
import { freePort } from './free-port.js';

it('npm start serves an application whose routes read no forms, which other sites could submit', async () => {
  const port = String(await freePort());
  Object.assign(process.env, { PORT: port, DATABASE: ':memory:' });
  await import('../src/main.js');
  const fields = { email: 'alice@example.com', username: 'alice', password: 'wrong' };
  const send = async (path: string, body: string | URLSearchParams, headers = {}): Promise<number> =>
    (await fetch(`http://localhost:${port}${path}`, { method: 'POST', body, headers })).status;
  for (const path of ['/sign-up', '/sign-up/complete', '/password-reset', '/password-reset/complete', '/auth/login/']) {
    const status = await send(path, new URLSearchParams(fields));
    assert.ok([400, 415].includes(status), `${path}: ${status}`);
    assert.ok([400, 415].includes(await send(path, JSON.stringify(fields), { 'Content-Type': 'text/plain' })));
  }
  // Before the script of the page runs, a form would otherwise put the password into the URL.
  const page = await fetch(`http://localhost:${port}/`);
  assert.match(await page.text(), /form-action 'none'/);
  assert.equal(page.headers.get('Content-Security-Policy'), "frame-ancestors 'none'");
  // A route accepts 20 requests in ten minutes.
  for (let n = 0; n < 21; n += 1) assert.equal(await send('/sign-up', new URLSearchParams(fields)), 400);
  const json = { 'Content-Type': 'application/json' };
  assert.equal(await send('/sign-up', JSON.stringify(fields), json), 202);
});
