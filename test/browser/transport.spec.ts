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

    it('cookies store the tokens, which no script can read, across refreshes and reloads until the logout', async () => {
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
    });

    it('all tabs use the same choice of transport, and a script can read tokens in localStorage', async () => {
      const one = await env.signIn();
      const two = await one.context().newPage();
      await two.goto('/');
      for (const [choice, summary] of [
        [IN_COOKIES, 'A script on this page cannot read any token.'],
        [IN_STORAGE, 'A script on this page can read 2 tokens'],
      ] as const) {
        await signOut(one);
        await two.getByRole('button', { name: 'Sign in' }).waitFor();
        await one.getByLabel(choice).check();
        await signInAt(one);
        await two.getByText(summary).waitFor();
        expect(await requestStatus(two)).toBe(200);
        expect(TOKEN.test(await readable(one))).toBe(choice === IN_STORAGE);
        expect(await one.context().cookies()).toHaveLength(choice === IN_STORAGE ? 0 : 2);
      }
      await signOut(one);
      await one.reload();
      expect(await one.getByLabel(IN_STORAGE).isChecked()).toBe(true);
    });
  },
);
