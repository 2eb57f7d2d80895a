import type { Page } from 'playwright-core';
import { describeInChromium } from './chromium';
import { fetchFrom, firstMessage, ForeignPages, loadImage, postForm } from './foreign-pages';
import { askWith, PASSWORD, signInAt, Stage } from './stage';

jest.setTimeout(120_000);

const CREDENTIALS = JSON.stringify({ username: 'bob', password: PASSWORD });
const SCHEMES = ['http', 'https'] as const;
/** The first is of another site; the second is of the site of front end and API, and not trusted. */
const FOREIGN = ['attacker.localhost', 'evil.example.localhost'] as const;

describeInChromium.each(SCHEMES)('cookie mode under attack, over %s', (scheme) => {
  const prefix = scheme === 'https' ? '__Host-' : '';
  const both = [`${prefix}auth_access`, `${prefix}auth_refresh`];
  let at: Stage;
  let foreign: ForeignPages;
  let victim: Page;
  beforeAll(async () => {
    at = await Stage.start({}, { transport: 'cookie', scheme });
    foreign = await ForeignPages.start(scheme);
  });
  beforeEach(async () => (victim = await at.signIn()));
  afterEach(() => at.reset());
  afterAll(async () => {
    foreign.close();
    await at.close();
  });

  const cookies = async (): Promise<string[]> =>
    (await victim.context().cookies(at.api)).map(({ name, value }) => `${name}=${value}`).sort();
  const last = (request: string): string => {
    const found = at.traffic.exchanges.findLast((exchange) => exchange.request === request);
    return found ? `${found.status} ${[...found.cookies].sort().join(' ')}`.trim() : 'not sent';
  };

  it('serves the front end, which sends cookies from another origin', async () => {
    const page = await victim.context().newPage();
    await page.goto('/page-settings');
    expect(await firstMessage(page, `${at.api}/socket`)).toBe('welcome');
    expect(await fetchFrom(page, `${at.api}/auth/logout/all/`, { method: 'POST' })).toBe(200);
    expect(last('POST /auth/logout/all/')).toBe(`200 ${both.join(' ')}`);
  });

  it.each(FOREIGN)('changes nothing for %s, and lets it read nothing', async (host) => {
    const before = await cookies();
    const isSibling = host !== 'attacker.localhost';
    // `SameSite=Lax` keeps the cookies from another site alone.
    const refused = isSibling ? `403 ${both.join(' ')}` : '401';
    const answered = isSibling ? `200 ${both.join(' ')}` : '401';
    const attacker = await foreign.open(victim.context(), host);
    const started = attacker.url();
    at.traffic.exchanges.length = 0;
    const logout = `${at.api}/auth/logout/all/`;

    expect(await fetchFrom(attacker, logout, { method: 'POST', mode: 'no-cors' })).toBe(0);
    expect(last('POST /auth/logout/all/')).toBe(refused);
    expect(await fetchFrom(attacker, logout, { method: 'POST' })).toBe('failed');
    const asking = { method: 'POST', headers: { 'X-Auth-Transport': 'cookie' } };
    expect(await fetchFrom(attacker, `${at.api}/auth/token/refresh/`, asking)).toBe('failed');
    expect(last('POST /auth/token/refresh/')).toBe('not sent');
    expect(await fetchFrom(attacker, `${at.api}/me`, { cache: 'no-store' })).toBe('failed');
    expect(last('GET /me')).toBe(answered);
    at.traffic.exchanges.length = 0;
    expect(await loadImage(attacker, `${at.api}/me?image`)).toBe(false);
    expect(last('GET /me')).toBe(answered);
    expect(await firstMessage(attacker, `${at.api}/socket`)).toBe(
      isSibling ? 'cross_site_request' : 'credentials_missing',
    );

    await postForm(attacker, logout);
    expect(last('POST /auth/logout/all/')).toBe(refused);
    await attacker.goto(started);
    // The name and the value of the field make a body of JSON.
    await postForm(attacker, `${at.api}/auth/login/`, `${CREDENTIALS.slice(0, -1)}, "x": "`);
    expect(last('POST /auth/login/')).toMatch(/^4/);

    expect(await cookies()).toEqual(before);
    expect(await askWith(victim)).toBe(200);
    expect(await at.recorded('login_success')).toBe(1);
  });

  it.each(FOREIGN)('shows a page to the user who follows a link from %s, and not to that page', async (host) => {
    const attacker = await foreign.open(victim.context(), host);
    const opening = victim.context().waitForEvent('page');
    await attacker.evaluate(`void (globalThis.opened = open(${JSON.stringify(`${at.api}/me`)}))`);
    const opened = await opening;
    await opened.waitForLoadState();
    expect(JSON.parse(await opened.locator('body').innerText())).toMatchObject({ username: 'alice' });
    expect(
      await attacker.evaluate('(() => { try { return opened.document.body.innerText; } catch { return null; } })()'),
    ).toBe(null);
  });
});

describeInChromium.each(SCHEMES)('a sibling subdomain that sets cookies of the same names, over %s', (scheme) => {
  const isSecure = scheme === 'https';
  let at: Stage;
  let foreign: ForeignPages;
  beforeAll(async () => {
    at = await Stage.start({}, { transport: 'cookie', scheme });
    foreign = await ForeignPages.start(scheme);
  });
  afterEach(() => at.reset());
  afterAll(async () => {
    foreign.close();
    await at.close();
  });

  /** Sets cookies for the whole site. */
  const plant = async (victim: Page, values: Readonly<Record<string, string>>): Promise<void> => {
    const attacker = await foreign.open(victim.context(), 'evil.example.localhost');
    for (const [name, value] of Object.entries(values)) {
      const cookie = `${name}=${value}; Domain=example.localhost; Path=/${isSecure ? '; Secure' : ''}`;
      await attacker.evaluate(`void (document.cookie = ${JSON.stringify(cookie)})`);
    }
    await attacker.close();
  };

  it(
    isSecure ? 'is refused by the browser' : 'makes requests ambiguous, which act for nobody but a logout',
    async () => {
      const victim = await at.signIn();
      const prefix = isSecure ? '__Host-' : '';
      await plant(victim, { [`${prefix}auth_access`]: 'x', [`${prefix}auth_refresh`]: 'y' });
      expect(await victim.context().cookies(at.api)).toHaveLength(isSecure ? 2 : 4);
      expect(await askWith(victim)).toBe(isSecure ? 200 : 400);
      await victim.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
      await victim.getByText('You have signed out.').waitFor();
      expect(await at.recorded('logout')).toBe(1);
    },
  );

  it('never signs a user in as the attacker where the prefix is in use', async () => {
    const victim = await (await at.openWindow()).newPage();
    const bob = await at.signIn('bob');
    const stolen = Object.fromEntries((await bob.context().cookies(at.api)).map(({ name, value }) => [name, value]));
    await plant(victim, stolen);
    await victim.goto('/');
    // Without TLS there is no such protection, and cookies with `secure: false` are for localhost alone.
    if (!isSecure) return victim.getByText('Signed in as bob').waitFor();
    await signInAt(victim);
    await victim.getByText('Signed in as alice').waitFor();
  });

  it('signs users out at most by filling the browser with cookies', async () => {
    const victim = await at.signIn();
    await plant(victim, Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`filler_${index}`, 'x'])));
    expect(await askWith(victim)).toBe(401);
    await signInAt(victim);
    expect(await askWith(victim)).toBe(200);
  });
});
