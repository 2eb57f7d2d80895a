import type { BrowserContext, Page } from 'playwright-core';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { blocksUnder } from '../docs/code-blocks';
import { MINUTE } from '../support/driven-clock';
import { describeInChromium } from './chromium';
import { BrowserEnvironment, PASSWORD } from './environment';

jest.setTimeout(120_000);

const TTL = 15 * MINUTE;

describeInChromium('the client in pages of its own', () => {
  let env: BrowserEnvironment;
  let window: BrowserContext;
  let warnings: string[];
  beforeAll(async () => (env = await BrowserEnvironment.start({}, { transport: 'cookie', scheme: 'http' })));
  beforeEach(async () => {
    window = await env.openWindow();
    warnings = [];
    window.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
  });
  afterEach(async () => {
    expect(env.errors).toEqual([]);
    await env.reset();
  });
  afterAll(() => env.close());

  /** Opens a tab with a client. `options` is JavaScript. */
  async function open(options: string, url = '/page-settings'): Promise<Page> {
    const page = await window.newPage();
    await page.goto(url);
    await page.evaluate(`import('${env.url}/client/index.js').then(({ AuthClient, localTokens }) => {
      globalThis.client = new AuthClient({ baseUrl: '${env.api}', ...${options} });
    })`);
    return page;
  }

  /** Returns the value of an expression, or the code of its error. */
  const valueOf = (page: Page, expression: string): Promise<unknown> =>
    page.evaluate(`(async () => ${expression})().catch(({ code, message }) => code ?? message)`);
  const login = (page: Page, name = 'alice'): Promise<unknown> =>
    valueOf(page, `(await client.login('${name}', '${PASSWORD}')).sessionId`);
  const status = (page: Page): Promise<unknown> =>
    valueOf(page, "(await client.fetch('/me', { cache: 'no-store' })).status");

  it.each(["{ transport: 'cookie' }", '{ storage: localTokens() }'])(
    'after a login in another tab, a tab reports the new session, and a tab that does not listen sends nothing: %s',
    async (options) => {
      const [listening, other, deaf] = [await open(options), await open(options), await open(options)];
      expect(await login(listening)).toMatch(/-/);
      for (const tab of [other, deaf]) expect(await status(tab)).toBe(200);
      await valueOf(listening, "client.on('sessionChanged', ({ sessionId }) => (globalThis.changedTo = sessionId))");
      const bob = await login(other, 'bob');
      await listening.waitForFunction(`globalThis.changedTo === '${String(bob)}'`);
      expect([await valueOf(listening, 'client.sessionId'), await status(listening)]).toEqual([bob, 200]);
      env.traffic.exchanges.length = 0;
      expect([await status(deaf), env.traffic.exchanges]).toEqual(['session_changed', []]);
      await deaf.reload();
    },
  );

  it('a login with cookies succeeds although localStorage is full, which one warning says', async () => {
    const page = await open("{ transport: 'cookie' }");
    await page.evaluate(`for (let size = 2 ** 22; size >= 1; size /= 2) {
      try {
        localStorage.setItem(size, 'x'.repeat(size));
      } catch {}
    }`);
    expect(await login(page)).toMatch(/-/);
    env.clock.advance(TTL);
    expect([await status(page), warnings]).toEqual([200, [expect.stringContaining('The storage is full.')]]);
  });

  it('a page whose storage is blocked keeps tokens in memory, which one warning says', async () => {
    // In a page without an origin, access to `localStorage` throws. Such a page needs CORS for every request.
    await window.route('**/*', async (route) => {
      // Node.js does not resolve these names.
      const response = await route.fetch({
        url: route
          .request()
          .url()
          .replace(/[\w.]+localhost/, '127.0.0.1'),
      });
      await route.fulfill({ response, headers: { ...response.headers(), 'access-control-allow-origin': '*' } });
    });
    const page = await open('{ storage: localTokens() }', 'data:text/html,');
    expect(await valueOf(page, 'localStorage')).toBe(18); // SecurityError
    expect([await login(page), await status(page)]).toEqual([expect.stringMatching(/-/), 200]);
    expect(warnings).toEqual([expect.stringContaining('localStorage is not available. Tokens are in memory.')]);
  });

  it('a login rejects if the browser drops the cookies, because the API belongs to another site', async () => {
    const api = new URL(env.api);
    api.hostname = 'localhost';
    const page = await open(`{ transport: 'cookie', baseUrl: '${api.origin}' }`);
    const problem = await valueOf(page, `client.login('alice', '${PASSWORD}').catch((error) => error)`);
    expect(problem).toMatchObject({ message: expect.stringContaining('Are app.example.localhost and localhost one') });
    expect([await valueOf(page, 'client.sessionId'), await window.cookies()]).toEqual([null, []]);
  });

  it('the recipe for EventSource opens the stream again if the access cookie has expired', async () => {
    const page = await open("{ transport: 'cookie' }");
    await login(page);
    env.clock.advance(TTL);
    const code = blocksUnder('docs/client-libraries.md', '## EventSource')[0]!.code.replace(/^import .*/, '');
    const compilerOptions = { target: ScriptTarget.ES2022, module: ModuleKind.ES2022 };
    const { outputText } = transpileModule(code, { compilerOptions });
    await page.evaluate(`(() => {
      globalThis.sources = [];
      globalThis.EventSource = class extends globalThis.EventSource {
        constructor(...parameters) { super(...parameters); sources.push(this); }
      };
      ${outputText.replace('export function', 'function')}
      globalThis.stop = listen('${env.api}/session-events', () => undefined);
    })()`);
    await page.waitForFunction('sources[1]?.readyState === EventSource.OPEN');
    expect([await env.recorded('token_refresh'), await valueOf(page, 'sources.length')]).toEqual([1, 2]);
    await page.evaluate('stop()');
    expect(await valueOf(page, 'sources[1].readyState')).toBe(2);
  });
});
