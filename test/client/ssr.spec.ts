import { ServerSession } from 'nestjs-session-auth-client/ssr';
import { blocksUnder } from '../docs/code-blocks';
import { runBlock } from '../docs/run-block';
import { CookieBrowser } from '../support/cookie-browser';
import { MINUTE } from '../support/driven-clock';
import { describeHttp } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const TTL = 15 * MINUTE;
const ORIGIN = 'http://localhost:4000';
const ADDRESS = '203.0.113.7';
const GUIDE = 'docs/client-ssr.md';

type SessionOf = (headers: Pick<Headers, 'get'>) => ServerSession;

/** What a recipe does with a request for a page: `me` calls the API as the page does. */
interface Visit {
  readonly status: number;
  /** The values of `Set-Cookie` in the response to the browser. */
  readonly lines: readonly string[];
  readonly caching: string | null;
  me(): Promise<Response>;
}

/** Runs a recipe with doubles of the request and response of its framework. */
type Recipe = (sessionOf: SessionOf, headers: Headers) => Promise<Visit>;

const block = <T>(heading: string, index: number, modules: object): T =>
  runBlock<T>(blocksUnder(GUIDE, `## ${heading}`)[index]!, { modules: modules as Record<string, unknown> });

const next: Recipe = async (sessionOf, sent) => {
  const own = { './session.js': { sessionOf } };
  let forwarded!: Headers;
  class NextResponse extends Response {
    static next({ request }: { request: { headers: Headers } }): Response {
      forwarded = request.headers;
      return new Response();
    }
  }
  const { proxy } = block<{ proxy(request: object): Promise<Response> }>('Next', 0, {
    'next/server': { NextResponse },
    ...own,
  });
  const response = await proxy({ headers: sent });
  const redirect = (path: string) => {
    throw new Error(`redirected to ${path}`);
  };
  const { me } = block<{ me(): Promise<object> }>('Next', 1, {
    'next/headers': { headers: () => Promise.resolve(forwarded) },
    'next/navigation': { redirect },
    ...own,
  });
  return {
    status: response.status,
    lines: response.headers.getSetCookie(),
    caching: response.headers.get('cache-control'),
    me: () =>
      me().then(
        (body) => Response.json(body),
        ({ message }: Error) => new Response(null, { status: message === 'redirected to /login' ? 401 : 500 }),
      ),
  };
};

const nuxt: Recipe = async (sessionOf, sent) => {
  const lines: string[] = [];
  let caching: string | null = null;
  const h3 = {
    createError: (error: object) => error,
    defineEventHandler: (handler: unknown) => handler,
    getRequestHeader: (_: unknown, name: string) => sent.get(name) ?? undefined,
    getRequestIP: () => ADDRESS,
    appendResponseHeader: (_: unknown, name: string, line: string) => name === 'set-cookie' && lines.push(line),
    setResponseHeader: (_: unknown, name: string, value: string) => name === 'cache-control' && (caching = value),
  };
  const modules = { h3, '../../session.js': { sessionOf } };
  const { default: handle } = block<{ default(event: object): Promise<void> }>('Nuxt', 0, modules);
  const event = { context: {} as { session: ServerSession } };
  const status = await handle(event).then(
    () => 200,
    ({ statusCode }: { statusCode: number }) => statusCode,
  );
  return { status, lines, caching, me: () => event.context.session.fetch('/me') };
};

const svelteKit: Recipe = async (sessionOf, sent) => {
  type Locals = { session: ServerSession };
  const { handle } = block<{ handle(input: object): Promise<Response> }>('SvelteKit', 0, {
    './session.js': { sessionOf },
  });
  const locals = {} as Locals;
  const event = { request: { headers: sent }, locals, getClientAddress: () => ADDRESS };
  const resolve = () => Promise.resolve(Response.redirect('http://localhost:4000/', 303));
  const response = await handle({ event, resolve });
  const [lines, caching] = [response.headers.getSetCookie(), response.headers.get('cache-control')];
  return { status: response.status, lines, caching, me: () => locals.session.fetch('/me') };
};

const auth = { cookies: { mode: 'optional', secure: false, trustedOrigins: [ORIGIN] } } as const;

// The frameworks are not installed: each recipe runs with doubles of the objects of its framework that it uses.
describe.each([
  ['Next', next],
  ['Nuxt', nuxt],
  ['SvelteKit', svelteKit],
])('the recipe for %s', (_, visitPage) => {
  describeHttp('a server that renders pages', { auth, trustProxy: 'loopback' }, (env) => {
    let browser: CookieBrowser;

    async function visit(headers: object = {}, api = env.app.url): Promise<Visit> {
      const { sessionOf } = runBlock<{ sessionOf: SessionOf }>(blocksUnder(GUIDE, '## The session of a request')[0]!, {
        replaced: { 'http://localhost:3000': api },
      });
      const sent = new Headers({ cookie: browser.cookies, 'x-forwarded-for': ADDRESS, ...headers });
      const visited = await visitPage(sessionOf, sent);
      browser.store(visited.lines);
      return visited;
    }

    beforeEach(async () => {
      browser = new CookieBrowser(env.app);
      await browser.open(env.app.url).client.login('alice', PASSWORD);
    });

    /** Removes the access cookie, as a browser does when it expires. */
    const expire = (): void => {
      env.app.clock.advance(TTL);
      browser.jar.delete('auth_access');
    };

    it('a page whose access cookie has expired is rendered with the session, and the browser gets the new cookies', async () => {
      const before = new Map(browser.jar);
      expect(await visit()).toMatchObject({ lines: [], caching: null });
      expire();
      // A link on another site has opened the page.
      const { lines, caching, me } = await visit({ 'sec-fetch-site': 'cross-site' });
      expect(caching).toBe('private, no-store');
      expect(await (await me()).json()).toMatchObject({ username: 'alice' });
      expect(lines).toHaveLength(2);
      for (const line of lines) expect(line).toMatch(/HttpOnly; SameSite=Lax/);
      expect([...browser.jar.keys()].sort()).toEqual([...before.keys()].sort());
      for (const [name, value] of before) expect(browser.jar.get(name)).not.toBe(value);
      const next = await visit();
      expect([next.lines, (await next.me()).status]).toEqual([[], 200]);
      const sql = "SELECT ip_address FROM auth_events WHERE event = 'token_refresh'";
      expect(await env.app.dataSource.query(sql)).toEqual([{ ip_address: ADDRESS }]);
    });

    it('pages that are opened at the same time get the same cookies', async () => {
      expire();
      const visits = await Promise.all([visit(), visit(), visit()]);
      const [one, ...others] = visits.map(({ lines }) => lines);
      for (const lines of others) expect(lines).toEqual(one);
      env.app.clock.advance(MINUTE);
      expect((await (await visit()).me()).status).toBe(200);
      expect(env.app.sent('token_reuse_detected')).toEqual([]);
    });

    it('while the API is down, a page that needs a refresh is answered with 503, and the session continues', async () => {
      expire();
      const log = jest.spyOn(console, 'error').mockReturnValueOnce();
      const { status, lines } = await visit({}, 'http://127.0.0.1:1');
      expect([status, lines, log.mock.lastCall]).toEqual([503, [], [expect.objectContaining({ code: 'no_answer' })]]);
      expect((await (await visit()).me()).status).toBe(200);
    });

    it('a page of a visitor, or of a session that has ended, is rendered without a session', async () => {
      const { access_token: token } = await env.app.login();
      await env.app.post('/auth/logout/all', token).expect(200);
      expire();
      const { lines, me } = await visit();
      expect([lines.length, browser.jar.size, (await me()).status]).toEqual([2, 0, 401]);
      const visitor = await visit();
      expect([visitor.lines, (await visitor.me()).status]).toEqual([[], 401]);
    });
  });
});

describeHttp('a session on a server that renders pages', { auth }, (env) => {
  const sessionOf = ({ cookies: cookie }: { cookies: string }, headers = {}, origin = ORIGIN): ServerSession =>
    new ServerSession({ baseUrl: env.app.url, origin, headers: new Headers({ cookie, ...headers }) });

  async function signedIn(): Promise<CookieBrowser> {
    const browser = new CookieBrowser(env.app);
    await browser.open(env.app.url).client.login('alice', PASSWORD);
    return browser;
  }

  it('an attack from another site reaches the API with its origin, and is refused', async () => {
    const browser = await signedIn();
    const change = (headers: object): Promise<Response> =>
      sessionOf(browser, headers).fetch('/auth/logout/all', { method: 'POST', headers: { origin: ORIGIN } });
    const attack = await change({ origin: 'http://evil.localhost', 'sec-fetch-site': 'same-site' });
    expect([attack.status, await attack.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'cross_site_request' }),
    ]);
    expect((await change({ origin: ORIGIN, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('cookies are sent to the API only, and a refresh from an untrusted origin names the option', async () => {
    const browser = await signedIn();
    await expect(sessionOf(browser).fetch('https://evil.example/')).rejects.toMatchObject({ code: 'foreign_origin' });
    browser.jar.delete('auth_access');
    const detail: unknown = expect.stringContaining('trustedOrigins');
    const session = sessionOf(browser, {}, 'http://other.localhost');
    await expect(session.refresh()).rejects.toMatchObject({ code: 'cross_site_request', detail });
  });

  it('over HTTPS, an access cookie that another host of the site has planted does not prevent a refresh', async () => {
    const session = sessionOf({ cookies: 'auth_access=x; __Host-auth_refresh=rt_1' }, {}, 'https://app.example.com');
    await expect(session.refresh()).rejects.toMatchObject({ code: 'cross_site_request' }); // the API got the refresh
  });

  it('several calls of refresh send one refresh', async () => {
    const browser = await signedIn();
    browser.jar.delete('auth_access');
    const session = sessionOf(browser);
    const [one, other] = await Promise.all([session.refresh(), session.refresh()]);
    expect([one.length, await session.refresh(), other]).toEqual([2, one, one]);
  });
});
