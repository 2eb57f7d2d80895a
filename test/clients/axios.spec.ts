import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isAxiosError, type AxiosInstance } from 'axios';
import type { ClientError } from 'nestjs-session-auth-client';
import { PASSWORD } from '../support/test-application';
import { describeHttpLibrary } from './http-library';
import { Page } from './page';

const apiIn = (page: Page): AxiosInstance => page.load<{ api: AxiosInstance }>('### axios').api;

/** Returns axios as in a browser: it uses the page's `fetch`, and sends cookies only with `withCredentials`. */
function inBrowser(page: Page): AxiosInstance {
  const api = apiIn(page);
  Object.assign(api.defaults, { adapter: 'fetch', env: { fetch: page.browser.fetch.bind(page.browser) } });
  return api;
}

const outcome = (request: Promise<{ readonly status: number }>): Promise<number | string> =>
  request.then(
    ({ status }) => status,
    (error: ClientError) => (isAxiosError(error) ? error.response!.status : error.code),
  );

describeHttpLibrary(
  'axios',
  { ended: 'signed_out' },
  (page) => {
    const api = inBrowser(page);
    return {
      list: () => outcome(api.get('/orders')),
      create: (item) => outcome(api.post('/orders', { item })),
    };
  },
  (env, transport) => {
    // The browser decides where cookies are sent.
    if (transport === 'cookie') return;
    it('axios sends no token to another origin', async () => {
      const seen: unknown[] = [];
      const other = createServer(({ headers }, response) => {
        seen.push(headers.authorization);
        response.end();
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const page = new Page(env, transport);
      await page.client.login('alice', PASSWORD);
      // Without a browser, axios uses its adapter for Node.
      await outcome(apiIn(page).get(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`));
      expect(seen.filter(Boolean)).toEqual([]);
      await new Promise((resolve) => other.close(resolve));
    });
  },
);
