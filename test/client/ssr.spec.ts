import { ServerSession } from 'nestjs-session-auth-client/ssr';
import { codeOf } from '../docs/run-block';
import { CookieBrowser } from '../support/cookie-browser';
import { MINUTE } from '../support/driven-clock';
import { describeHttp } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const ORIGIN = 'http://localhost:4000';
const ADDRESS = '203.0.113.7';

const code = codeOf('docs/client-ssr.md');

type SessionOf = (headers: Pick<Headers, 'get'>) => ServerSession;

/** The response to a request for a page. `me` calls the API as the page does. */
interface Visit {
  readonly response: Response;
  me(): Promise<Response>;
}

/** Runs a recipe with doubles of the request and response of its framework. */
type Recipe = (sessionOf: SessionOf, headers: Headers) => Promise<Visit>;

const next: Recipe = async (sessionOf, sent) => {
  let forwarded!: Headers;
  class NextResponse extends Response {
    static next({ request }: { request: { headers: Headers } }): Response {
      forwarded = request.headers;
      return new Response();
    }
  }
  const modules = { 'next/server': { NextResponse }, './session.js': { sessionOf } };
  const { proxy } = code<{ proxy(request: object): Promise<Response> }>('## Next', { modules });
  return { response: await proxy({ headers: sent }), me: () => sessionOf(forwarded).fetch('/me') };
};

const nuxt: Recipe = async (sessionOf, sent) => {
  const headers = new Headers();
  const h3 = {
    createError: (error: object) => error,
    defineEventHandler: (handler: unknown) => handler,
    getRequestHeader: (_: unknown, name: string) => sent.get(name) ?? undefined,
    getRequestIP: () => ADDRESS,
    appendResponseHeader: (_: unknown, name: string, line: string) => headers.append(name, line),
    setResponseHeader: (_: unknown, name: string, value: string) => headers.set(name, value),
  };
  const modules = { h3, '../../session.js': { sessionOf } };
  const { default: handle } = code<{ default(event: object): Promise<void> }>('## Nuxt', { modules });
  const event = { context: {} as { session: ServerSession } };
  const status = await handle(event).then(
    () => 200,
    ({ statusCode }: { statusCode: number }) => statusCode,
  );
  return { response: new Response(null, { status, headers }), me: () => event.context.session.fetch('/me') };
};

const svelteKit: Recipe = async (sessionOf, sent) => {
  const modules = { './session.js': { sessionOf } };
  const { handle } = code<{ handle(input: object): Promise<Response> }>('## SvelteKit', { modules });
  const locals = {} as { session: ServerSession };
  const event = { request: { headers: sent }, locals, getClientAddress: () => ADDRESS };
  const resolve = () => Promise.resolve(Response.redirect('http://localhost:4000/', 303));
  return { response: await handle({ event, resolve }), me: () => locals.session.fetch('/me') };
};

const auth = { cookies: { mode: 'optional', secure: false, trustedOrigins: [ORIGIN] } } as const;

// The frameworks are not installed: each recipe runs with doubles of the objects of its framework that it uses.
describe.each([
  ['Next', next],
  ['Nuxt', nuxt],
  ['SvelteKit', svelteKit],
])('the recipe for %s', (_, visitPage) => {
  describeHttp('a server that renders pages', { auth, trustProxy: 'loopback' }, ({ app }) => {
    let browser: CookieBrowser;

    /** Opens a page. Returns the new cookies too. */
    async function visit(headers: object = {}, api = app.url): Promise<Visit & { readonly lines: string[] }> {
      const replaced = { 'http://localhost:3000': api };
      const { sessionOf } = code<{ sessionOf: SessionOf }>('## The session of a request', { replaced });
      const sent = new Headers({ cookie: browser.cookies, 'x-forwarded-for': ADDRESS, ...headers });
      const visited = await visitPage(sessionOf, sent);
      const lines = visited.response.headers.getSetCookie();
      browser.store(lines);
      return { ...visited, lines };
    }

    beforeEach(async () => {
      browser = new CookieBrowser(app);
      await browser.open(app.url).client.login('alice', PASSWORD);
    });

    /** Removes the access cookie, as a browser does when it expires. */
    const expire = (): void => {
      app.clock.advance(15 * MINUTE);
      browser.jar.delete('auth_access');
    };

    it('a page whose access cookie has expired is rendered with the session, and the browser gets the new cookies', async () => {
      const before = new Map(browser.jar);
      const { response: unchanged, lines: none } = await visit();
      expect([unchanged.headers.get('cache-control'), none]).toEqual([null, []]);
      expire();
      // A link on another site has opened the page.
      const { response, lines, me } = await visit({ 'sec-fetch-site': 'cross-site' });
      expect(response.headers.get('cache-control')).toBe('private, no-store');
      expect(await (await me()).json()).toMatchObject({ username: 'alice' });
      expect(lines).toHaveLength(2);
      for (const line of lines) expect(line).toMatch(/HttpOnly; SameSite=Lax/);
      expect([...browser.jar.keys()].sort()).toEqual([...before.keys()].sort());
      for (const [name, value] of before) expect(browser.jar.get(name)).not.toBe(value);
      const next = await visit();
      expect([next.lines, (await next.me()).status]).toEqual([[], 200]);
      const sql = "SELECT ip_address FROM auth_events WHERE event = 'token_refresh'";
      expect(await app.dataSource.query(sql)).toEqual([{ ip_address: ADDRESS }]);
    });

    it('while the API is down, a page that needs a refresh is answered with 503, and the session continues', async () => {
      expire();
      const log = jest.spyOn(console, 'error').mockReturnValueOnce();
      const { response, lines } = await visit({}, 'http://127.0.0.1:1');
      const logged = [expect.objectContaining({ code: 'no_answer' })];
      expect([response.status, lines, log.mock.lastCall]).toEqual([503, [], logged]);
      expect((await (await visit()).me()).status).toBe(200);
    });

    it('a page of a visitor, or of a session that has ended, is rendered without a session', async () => {
      const { access_token: token } = await app.login();
      await app.post('/auth/logout/all', token).expect(200);
      expire();
      const { lines, me } = await visit();
      expect([lines.length, browser.jar.size, (await me()).status]).toEqual([2, 0, 401]);
      const visitor = await visit();
      expect([visitor.lines, (await visitor.me()).status]).toEqual([[], 401]);
    });
  });
});

describeHttp('a session on a server that renders pages', { auth }, ({ app }) => {
  let browser: CookieBrowser;
  beforeEach(async () => {
    browser = new CookieBrowser(app);
    await browser.open(app.url).client.login('alice', PASSWORD);
  });

  const sessionWith = (cookie: string, headers = {}, origin = ORIGIN): ServerSession =>
    new ServerSession({ baseUrl: app.url, origin, headers: new Headers({ cookie, ...headers }) });

  it('an attack from another site reaches the API with its origin, and is refused', async () => {
    const change = (headers: object): Promise<Response> =>
      sessionWith(browser.cookies, headers).fetch('/auth/logout/all', { method: 'POST', headers: { origin: ORIGIN } });
    const attack = await change({ origin: 'http://evil.localhost', 'sec-fetch-site': 'same-site' });
    expect([attack.status, await attack.json()]).toEqual([
      403,
      expect.objectContaining({ code: 'cross_site_request' }),
    ]);
    expect((await change({ origin: ORIGIN, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('cookies are sent to the API only, and a refresh from an untrusted origin names the option', async () => {
    const elsewhere = sessionWith(browser.cookies).fetch('https://evil.example/');
    await expect(elsewhere).rejects.toMatchObject({ code: 'foreign_origin' });
    browser.jar.delete('auth_access');
    const detail: unknown = expect.stringContaining('trustedOrigins');
    const session = sessionWith(browser.cookies, {}, 'http://other.localhost');
    await expect(session.refresh()).rejects.toMatchObject({ code: 'cross_site_request', detail });
  });

  it('over HTTPS, an access cookie that another host of the site has planted does not prevent a refresh', async () => {
    const session = sessionWith('auth_access=x; __Host-auth_refresh=rt_1', {}, 'https://app.example.com');
    await expect(session.refresh()).rejects.toMatchObject({ code: 'cross_site_request' }); // the API got the refresh
  });

  it('several calls of refresh send one refresh', async () => {
    browser.jar.delete('auth_access');
    const session = sessionWith(browser.cookies);
    const [one, other] = await Promise.all([session.refresh(), session.refresh()]);
    expect([one.length, await session.refresh(), other]).toEqual([2, one, one]);
  });
});
