import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Body, Controller, Get, Post, UseGuards } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiProperty,
  DocumentBuilder,
  SwaggerModule,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { isAxiosError, type AxiosInstance } from 'axios';
import { BearerAuthGuard } from 'nestjs-session-auth';
import type { ClientError } from 'nestjs-session-auth-client';
import type createClient from 'openapi-fetch';
import { blocksUnder } from '../docs/code-blocks';
import { compileBlocks } from '../docs/compile-blocks';
import { CONTEXTS } from '../docs/document-contexts';
import { MINUTE } from '../support/driven-clock';
import { describeHttp } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import { PASSWORD } from '../support/test-application';
import { BOTH_TRANSPORTS, Page, TRANSPORTS } from './page';

const TTL = 15 * MINUTE;

class Order {
  @ApiProperty()
  item!: string;
}

@Controller('orders')
@UseGuards(BearerAuthGuard)
@ApiBearerAuth()
class OrdersController {
  readonly orders: Order[] = [];

  @Get()
  @ApiOkResponse({ type: [Order] })
  list(): Order[] {
    return this.orders;
  }

  @Post()
  @ApiCreatedResponse({ type: Order })
  create(@Body() order: Order): Order {
    this.orders.push(order);
    return order;
  }
}

/** An HTTP library in a page. Each call returns the status, or the code of a `ClientError`. */
interface HttpLibrary {
  list(): Promise<number | string>;
  create(item: string): Promise<number | string>;
}

/** Tests of an HTTP library in a page, with both transports. `ended` is the result after the end of the session. */
function describeHttpLibrary(name: string, ended: number | string, use: (page: Page) => HttpLibrary): void {
  describe.each(TRANSPORTS)(`${name} with the transport %s`, (transport) => {
    describeHttp(name, { auth: BOTH_TRANSPORTS, controllers: [OrdersController] }, (env) => {
      let page: Page;
      let library: HttpLibrary;

      beforeEach(async () => {
        page = new Page(env, transport);
        library = use(page);
        await page.client.login('alice', PASSWORD);
        env.app.nest.get(OrdersController).orders.length = 0;
      });

      it('a 401 causes a refresh, and the request is repeated with its body', async () => {
        for (const item of ['tea', 'coffee']) {
          env.app.clock.advance(TTL);
          expect(await library.create(item)).toBe(201);
        }
        expect(env.app.nest.get(OrdersController).orders).toEqual([{ item: 'tea' }, { item: 'coffee' }]);
        expect(await page.refreshes()).toBe(2);
      });

      it('no request is repeated after the session has ended, and the end is reported once', async () => {
        const { access_token: token } = await env.app.login();
        await env.app.post('/auth/logout/all', token).expect(200);
        const before = page.browser.bodies.length;
        expect(await library.list()).toBe(ended);
        expect(page.ends.map(({ reason }) => reason)).toEqual(['signedOutElsewhere']);
        // The page sent only the request, the question whether the server is there, and the refused refresh.
        expect(page.browser.bodies.length - before).toBe(3);
      });
    });
  });
}

const axiosIn = (page: Page): AxiosInstance => page.load<{ api: AxiosInstance }>('## axios').api;

const outcomeOf = (request: Promise<{ readonly status: number }>): Promise<number | string> =>
  request.then(
    ({ status }) => status,
    (error: ClientError) => (isAxiosError(error) ? error.response!.status : error.code),
  );

describeHttpLibrary('axios', 'signed_out', (page) => {
  const api = axiosIn(page);
  // As in a browser, axios uses the page's `fetch`, and sends cookies only with `withCredentials`.
  Object.assign(api.defaults, { adapter: 'fetch', env: { fetch: page.browser.fetch.bind(page.browser) } });
  return { list: () => outcomeOf(api.get('/orders')), create: (item) => outcomeOf(api.post('/orders', { item })) };
});

// With cookies, the browser decides where they are sent.
describeHttp('axios with the transport bearer', { auth: BOTH_TRANSPORTS }, (env) => {
  it('axios sends no token to another origin', async () => {
    const page = new Page(env, 'bearer');
    await page.client.login('alice', PASSWORD);
    const sent: unknown[] = [];
    const api = axiosIn(page);
    api.defaults.adapter = (config) => {
      sent.push(config.headers.get('Authorization'));
      return Promise.resolve({ data: null, status: 200, statusText: '', headers: {}, config });
    };
    for (const url of ['/orders', 'https://elsewhere.example.com/']) await outcomeOf(api.get(url));
    expect(sent).toEqual([expect.stringMatching(/^Bearer nsaa_/), undefined]);
  });
});

type Api = ReturnType<typeof createClient<Record<string, Record<'get' | 'post', object>>>>;

const HEADING = '## openapi-fetch';

/** Returns the types that the command in the guide generates. */
function typesOf(document: OpenAPIObject): string {
  const cli = join(__dirname, '../../node_modules/openapi-typescript/bin/cli.js');
  const input = JSON.stringify(document);
  return execFileSync(process.execPath, [cli], { input, cwd: tmpdir(), encoding: 'utf8', stdio: 'pipe' });
}

describeHttpLibrary('openapi-fetch', 401, (page) => {
  const { api } = page.load<{ api: Api }>(HEADING);
  return {
    list: async () => (await api.GET('/orders')).response.status,
    create: async (item) => (await api.POST('/orders', { body: { item } } as never)).response.status,
  };
});

describe('an openapi-fetch client generated from the OpenAPI document', () => {
  async function problemsOf(code: string): Promise<string[]> {
    const app = await startForTest('sqlite', { auth: BOTH_TRANSPORTS, controllers: [OrdersController] });
    const config = new DocumentBuilder().addBearerAuth().addCookieAuth('auth_access').build();
    const types = typesOf(SwaggerModule.createDocument(app.nest, config));
    const { modules, ...rest } = CONTEXTS['docs/client-libraries.md']!;
    const [block] = blocksUnder('docs/client-libraries.md', HEADING);
    return compileBlocks([{ ...block!, code: `${block!.code}\n${code}` }], 'browser', {
      'docs/client-libraries.md': { ...rest, modules: { ...modules, 'api-types': types } },
    });
  }

  it("a generated client compiles with the types of the library's endpoints and of the application's routes only", async () => {
    const sessions = `const { data } = await api.GET('/auth/sessions');
      const ids: string[] = data!.map(({ id }) => id);
      const page = await api.GET('/auth/history', { params: { query: { limit: 10 } } });
      const login = await api.POST('/auth/login', { body: { username: 'alice', password: 'x' } });
      const orders: { item: string }[] | undefined = (await api.GET('/orders')).data;`;
    expect(await problemsOf(sessions)).toEqual([]);
    const wrong = `await api.GET('/order');
      await api.POST('/auth/login', { body: { username: 'alice' } });
      await api.GET('/auth/history', { params: { query: { limit: 'ten' } } });`;
    expect(await problemsOf(wrong)).toHaveLength(3);
  }, 120_000);
});
