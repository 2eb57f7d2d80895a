import type { Page } from 'playwright-core';
import { MINUTE } from '../support/driven-clock';
import { describeInChromium } from './chromium';
import { askWith, signInAt, Stage } from './stage';

jest.setTimeout(120_000);

const TTL = 15 * MINUTE;
const TOKEN = /nsa[ar]_/;
const IN_COOKIES = 'in cookies, which no script can read';
const IN_STORAGE = 'in localStorage, which scripts on this page can read';

/** What a script on the page finds. */
const readable = (page: Page): Promise<string> =>
  page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');

const signOut = async (page: Page): Promise<void> => {
  await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You have signed out.').waitFor();
};

describeInChromium.each(['http', 'https'] as const)('front end and API on two hosts of a site, over %s', (scheme) => {
  const isSecure = scheme === 'https';
  let at: Stage;
  beforeAll(async () => (at = await Stage.start({}, { scheme })));
  afterEach(async () => {
    expect(at.errors).toEqual([]);
    await at.reset();
  });
  afterAll(() => at.close());

  it('keeps the tokens in cookies that no script reads, through a refresh and a reload, until the logout', async () => {
    const page = await (await at.openWindow()).newPage();
    await page.goto('/');
    await page.getByLabel(IN_COOKIES).check();
    await signInAt(page);
    await page.getByText('A script on this page can read no token.').waitFor();
    expect(await readable(page)).not.toMatch(TOKEN);
    const cookies = async (): ReturnType<ReturnType<Page['context']>['cookies']> =>
      (await page.context().cookies()).sort((one, other) => one.name.localeCompare(other.name));
    const first = await cookies();
    const prefix = isSecure ? '__Host-' : '';
    await page.getByText(`the HttpOnly cookies ${prefix}auth_access and ${prefix}auth_refresh`).waitFor();
    expect(first).toEqual(
      ['access', 'refresh'].map((kind) =>
        expect.objectContaining({
          name: `${prefix}auth_${kind}`,
          domain: 'api.example.localhost',
          path: '/',
          httpOnly: true,
          secure: isSecure,
          sameSite: 'Lax',
        }),
      ),
    );
    at.clock.advance(TTL);
    expect(await askWith(page)).toBe(200);
    expect(await at.recorded('token_refresh')).toBe(1);
    const next = await cookies();
    for (const index of [0, 1]) expect(next[index]!.value).not.toBe(first[index]!.value);
    await page.reload();
    await page.getByText('Signed in as alice').waitFor();
    await signOut(page);
    expect(await cookies()).toEqual([]);
  });

  it('keeps them in localStorage where the user chooses so, and remembers the choice', async () => {
    const page = await (await at.openWindow()).newPage();
    await page.goto('/');
    await page.getByLabel(IN_STORAGE).check();
    await signInAt(page);
    await page.getByText('A script on this page can read 2 tokens').waitFor();
    expect(await readable(page)).toMatch(TOKEN);
    expect(await page.context().cookies()).toEqual([]);
    at.clock.advance(TTL);
    expect(await askWith(page)).toBe(200);
    await page.reload();
    await page.getByText('Signed in as alice').waitFor();
    await signOut(page);
    await page.reload();
    expect(await page.getByLabel(IN_STORAGE).isChecked()).toBe(true);
  });

  it('has all tabs follow the choice', async () => {
    const one = await at.signIn();
    const two = await one.context().newPage();
    await two.goto('/');
    for (const [choice, summary] of [
      [IN_COOKIES, 'A script on this page can read no token.'],
      [IN_STORAGE, 'A script on this page can read 2 tokens'],
    ] as const) {
      await signOut(one);
      await two.getByRole('button', { name: 'Sign in' }).waitFor();
      await one.getByLabel(choice).check();
      await signInAt(one);
      await two.getByText(summary).waitFor();
      expect(await askWith(two)).toBe(200);
    }
  });

  it.each(['cookie', 'bearer'] as const)('works where the browser says that there is no network, %s', async (mode) => {
    const context = await at.openWindow();
    await context.addInitScript("Object.defineProperty(Navigator.prototype, 'onLine', { get: () => false })");
    const page = await context.newPage();
    await page.goto('/');
    expect(await page.evaluate('navigator.onLine')).toBe(false);
    await page.getByLabel(mode === 'cookie' ? IN_COOKIES : IN_STORAGE).check();
    await signInAt(page);
    at.clock.advance(TTL);
    expect(await askWith(page)).toBe(200);
    await signOut(page);
  });
});

describeInChromium('a server without a choice', () => {
  it.each([
    [false, 'Cookies need HTTPS or localhost, and the server needs its option for them.', 'can read 2 tokens'],
    ['only', 'This server hands out cookies alone.', 'can read no token'],
  ])('says so at the login, cookies.mode: %s', async (mode, hint, summary) => {
    const at = await Stage.start({ cookies: { mode, secure: false } });
    const page = await (await at.openWindow()).newPage();
    await page.goto('/');
    await page.getByText(hint).waitFor();
    await signInAt(page);
    await page.getByText(summary).waitFor();
    await at.close();
  });
});
