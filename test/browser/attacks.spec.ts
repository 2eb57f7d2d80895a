import type { Page } from 'playwright-core';
import { describeInChromium } from './chromium';
import { fetchFrom, ForeignPages, postForm } from './foreign-pages';
import { requestStatus, PASSWORD, signInAt, BrowserEnvironment } from './environment';

jest.setTimeout(120_000);

const CREDENTIALS = JSON.stringify({ username: 'bob', password: PASSWORD });
/**
 * Untrusted origins. The first belongs to another site, and the second to the site of the front end and the API.
 */
const FOREIGN = ['attacker.localhost', 'evil.example.localhost'] as const;

describeInChromium.each(['http', 'https'] as const)('attacks on cookie mode, over %s', (scheme) => {
  const isSecure = scheme === 'https';
  const both = ['auth_access', 'auth_refresh'].map((name) => (isSecure ? `__Host-${name}` : name));
  let env: BrowserEnvironment;
  let foreign: ForeignPages;
  let victim: Page;
  beforeAll(async () => {
    env = await BrowserEnvironment.start({}, { transport: 'cookie', scheme });
    foreign = await ForeignPages.start(scheme);
  });
  beforeEach(async () => (victim = await env.signIn()));
  afterEach(() => env.reset());
  afterAll(async () => {
    foreign.close();
    await env.close();
  });

  const cookies = async (): Promise<string[]> =>
    (await victim.context().cookies(env.api)).map(({ name, value }) => `${name}=${value}`).sort();
  const last = (request: string): string => {
    const found = env.traffic.exchanges.findLast((exchange) => exchange.request === request);
    return found ? `${found.status} ${[...found.cookies].sort().join(' ')}`.trim() : 'not sent';
  };

  it.each(FOREIGN)('a page on %s can change nothing and read no response', async (host) => {
    const before = await cookies();
    const isSibling = host !== 'attacker.localhost';
    // `SameSite=Lax` withholds the cookies only from requests of another site.
    const refused = isSibling ? `403 ${both.join(' ')}` : '401';
    const answered = isSibling ? `200 ${both.join(' ')}` : '401';
    const attacker = await foreign.open(victim.context(), host);
    const started = attacker.url();
    env.traffic.exchanges.length = 0;
    const logout = `${env.api}/auth/logout/all`;

    expect(await fetchFrom(attacker, logout, { method: 'POST', mode: 'no-cors' })).toBe(0);
    expect(last('POST /auth/logout/all')).toBe(refused);
    expect(await fetchFrom(attacker, logout, { method: 'POST' })).toBe('failed');
    const asking = { method: 'POST', headers: { 'X-Auth-Transport': 'cookie' } };
    expect(await fetchFrom(attacker, `${env.api}/auth/token/refresh`, asking)).toBe('failed');
    expect(last('POST /auth/token/refresh')).toBe('not sent');
    expect(await fetchFrom(attacker, `${env.api}/me`, { cache: 'no-store' })).toBe('failed');
    expect(last('GET /me')).toBe(answered);

    await postForm(attacker, logout);
    expect(last('POST /auth/logout/all')).toBe(refused);
    await attacker.goto(started);
    // The name and the value of the field form a JSON body.
    await postForm(attacker, `${env.api}/auth/login`, `${CREDENTIALS.slice(0, -1)}, "x": "`);
    expect(last('POST /auth/login')).toMatch(/^4/);

    expect(await cookies()).toEqual(before);
    expect(await requestStatus(victim)).toBe(200);
    expect(await env.recorded('login_success')).toBe(1);
  });

  /** Sets cookies for the whole site, as a sibling subdomain can. */
  const plant = async (values: Readonly<Record<string, string>>, page = victim): Promise<void> => {
    const attacker = await foreign.open(page.context(), 'evil.example.localhost');
    for (const [name, value] of Object.entries(values)) {
      const cookie = `${name}=${value}; Domain=example.localhost; Path=/${isSecure ? '; Secure' : ''}`;
      await attacker.evaluate(`void (document.cookie = ${JSON.stringify(cookie)})`);
    }
    await attacker.close();
  };

  it('a user is never signed in as the attacker if the cookies have the prefix __Host-', async () => {
    const page = await (await env.openWindow()).newPage();
    const bob = await env.signIn('bob');
    const stolen = Object.fromEntries((await bob.context().cookies(env.api)).map(({ name, value }) => [name, value]));
    await plant(stolen, page);
    await page.goto('/');
    // Without TLS, cookies have no prefix and no protection. `secure: false` is only for localhost.
    if (!isSecure) return page.getByText('Signed in as bob').waitFor();
    await signInAt(page);
    await page.getByText('Signed in as alice').waitFor();
  });

  it('filling the browser with cookies can at most sign users out', async () => {
    await plant(Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`filler_${index}`, 'x'])));
    expect(await requestStatus(victim)).toBe(401);
    await signInAt(victim);
    expect(await requestStatus(victim)).toBe(200);
  });
});
