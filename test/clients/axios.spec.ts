import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isAxiosError, type AxiosInstance } from 'axios';
import type { ClientError } from 'nestjs-session-auth-client';
import { PASSWORD } from '../support/host';
import { libraryStories } from './orders';
import { Page } from './page';

const apiIn = (page: Page): AxiosInstance => page.load<{ api: AxiosInstance }>('### axios').api;

/** As in a browser: requests are sent by the page's `fetch`, and only `withCredentials` makes cookies part of them. */
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

libraryStories(
  'axios',
  { ended: 'signed_out' },
  (page) => {
    const api = inBrowser(page);
    return {
      list: () => outcome(api.get('/orders')),
      create: (item) => outcome(api.post('/orders', { item })),
    };
  },
  (at, transport) => {
    // To cookies the browser sees.
    if (transport === 'cookie') return;
    it('sends no token to another origin', async () => {
      const seen: unknown[] = [];
      const other = createServer(({ headers }, response) => {
        seen.push(headers.authorization);
        response.end();
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const page = new Page(at, transport);
      await page.client.login('alice', PASSWORD);
      // Without a browser: the adapter of Node.
      await outcome(apiIn(page).get(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`));
      expect(seen.filter(Boolean)).toEqual([]);
      await new Promise((resolve) => other.close(resolve));
    });
  },
);
