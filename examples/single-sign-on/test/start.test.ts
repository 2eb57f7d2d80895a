import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { Browser } from './browser.js';
import { freePort } from './free-port.js';

it('npm start serves pages that send no referrer, and a callback that signs the user in only by POST', async () => {
  const port = String(await freePort());
  Object.assign(process.env, { PORT: port, DB: ':memory:' });
  await import('../dev/main.js');
  const browser = new Browser(`http://localhost:${port}`);
  const callback = await browser.authorize(await browser.start(), { name: 'bob' });
  for (const address of ['/', callback.href]) {
    const page = await browser.send(address);
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('Content-Security-Policy'), "frame-ancestors 'none'");
    const html = await page.text();
    assert.match(html, /<script type="module" src="\/page.js">/);
    assert.match(html, /<meta name="referrer" content="no-referrer" \/>/);
    assert.match(
      html,
      /<meta http-equiv="Content-Security-Policy" content="default-src 'self'; .*form-action 'none'" /,
    );
  }
  assert.equal(await browser.sessions(), null);
  assert.equal((await browser.finish(callback)).status, 204);
  assert.equal((await browser.sessions())?.length, 1);
});

it('npm start fails in production, where its provider would sign in anybody', async () => {
  const env = { ...process.env, NODE_ENV: 'production', PORT: '0' };
  const start = spawn(process.execPath, [join(import.meta.dirname, '../dev/main.js')], { env });
  let output = '';
  start.stderr.on('data', (data) => (output += String(data)));
  const [code] = (await once(start, 'exit')) as [number];
  assert.deepEqual([code, output.includes('a provider that signs in anybody')], [1, true]);
});
