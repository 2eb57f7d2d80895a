import type { BrowserContext, Page } from 'playwright-core';
import { describeInChromium } from './chromium';
import { BrowserEnvironment, PASSWORD } from './environment';

jest.setTimeout(120_000);

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

  it('a page whose storage is blocked keeps tokens in memory, which one warning says', async () => {
    // In a page without an origin, access to `localStorage` throws. Such a page needs CORS for every request.
    await window.route('**/*', async (route) => {
      // Node.js does not resolve these names.
      const url = new URL(route.request().url());
      url.hostname = '127.0.0.1';
      const response = await route.fetch({ url: url.href });
      await route.fulfill({ response, headers: { ...response.headers(), 'access-control-allow-origin': '*' } });
    });
    const page = await open('{ storage: localTokens() }', 'data:text/html,');
    expect(await valueOf(page, 'localStorage')).toBe(18); // SecurityError
    expect(await valueOf(page, `(await client.login('alice', '${PASSWORD}')).sessionId`)).toMatch(/-/);
    expect(await valueOf(page, "(await client.fetch('/me')).status")).toBe(200);
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
});
