import type { Page } from 'playwright-core';
import { MINUTE } from '../support/driven-clock';
import { describeInChromium } from './chromium';
import { requestStatus, signInAt, BrowserEnvironment } from './environment';

jest.setTimeout(120_000);

const TTL = 15 * MINUTE;
const TOKEN = /nsa[ar]_/;
const IN_COOKIES = 'in cookies, which no script can read';
const IN_STORAGE = 'in localStorage, which scripts on this page can read';

const readable = (page: Page): Promise<string> =>
  page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');

const signOut = async (page: Page): Promise<void> => {
  await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You have signed out.').waitFor();
};

describeInChromium.each(['http', 'https'] as const)(
  'front end and API on different hosts of one site, over %s',
  (scheme) => {
    const isSecure = scheme === 'https';
    let env: BrowserEnvironment;
    beforeAll(async () => (env = await BrowserEnvironment.start({}, { scheme })));
    afterEach(async () => {
      expect(env.errors).toEqual([]);
      await env.reset();
    });
    afterAll(() => env.close());

    it('cookies store the tokens, which no script can read, across refreshes and reloads until the logout, unless the user chooses localStorage, which all tabs then use', async () => {
      const page = await (await env.openWindow()).newPage();
      await page.goto('/');
      await page.getByLabel(IN_COOKIES).check();
      await page.getByLabel('Keep me signed in').uncheck();
      await signInAt(page);
      await page.getByText('A script on this page cannot read any token.').waitFor();
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
            // The user does not stay signed in when the browser ends.
            expires: -1,
            secure: isSecure,
            sameSite: 'Lax',
          }),
        ),
      );
      env.clock.advance(TTL);
      expect(await requestStatus(page)).toBe(200);
      expect(await env.recorded('token_refresh')).toBe(1);
      const next = await cookies();
      for (const index of [0, 1]) expect(next[index]!.value).not.toBe(first[index]!.value);
      await page.reload();
      await page.getByText('Signed in as alice').waitFor();
      await signOut(page);
      expect(await cookies()).toEqual([]);
      await page.getByLabel('Keep me signed in').check();
      await signInAt(page);
      for (const { expires } of await cookies()) expect(expires).toBeGreaterThan(0);
      const other = await page.context().newPage();
      await other.goto('/');
      await signOut(page);
      await page.getByLabel(IN_STORAGE).check();
      await signInAt(page);
      for (const tab of [page, other]) await tab.getByText('A script on this page can read 2 tokens').waitFor();
      expect(await readable(page)).toMatch(TOKEN);
      expect(await cookies()).toEqual([]);
    });
  },
);
