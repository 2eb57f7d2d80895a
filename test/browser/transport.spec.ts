import type { Page } from 'playwright-core';
import { MINUTE } from '../support/driven-clock';
import { describeInChromium } from './chromium';
import { requestStatus, signInAt, BrowserEnvironment } from './environment';

jest.setTimeout(120_000);

const TTL = 15 * MINUTE;
const TOKEN = /nsa[ar]_/;
const IN_COOKIES = 'in cookies, which no script can read';
const IN_STORAGE = 'in localStorage, which scripts on this page can read';

/** Returns what a script on the page can read. */
const readable = (page: Page): Promise<string> =>
  page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');

/** Delays the response to a sign-out until the live update has made the page send a request that is refused. */
const DELAY_LOGOUT = `{
  const send = window.fetch;
  let reportRefusal = () => undefined;
  window.fetch = async (...request) => {
    const isLogout = new URL(new Request(...request).url).pathname === '/auth/logout';
    const refusal = new Promise((resolve) => isLogout && (reportRefusal = resolve));
    const response = await send(...request);
    if (response.status === 401) reportRefusal();
    if (isLogout) await refusal;
    return response;
  };
}`;

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
    });

    it.each([true, false])(
      'cookies outlast the browser only if the user asks to stay signed in: %s',
      async (isAsked) => {
        const page = await (await env.openWindow()).newPage();
        await page.goto('/');
        await page.getByLabel(IN_COOKIES).check();
        await page.getByLabel('Keep me signed in').setChecked(isAsked);
        await signInAt(page);
        const ends = (await page.context().cookies()).map(({ expires }) => expires > 0);
        expect(ends).toEqual([isAsked, isAsked]);
        await signOut(page);
      },
    );

    it.each([IN_COOKIES, IN_STORAGE])(
      'the page reports that the user has signed out even if a live update arrives first, with tokens %s',
      async (choice) => {
        const page = await (await env.openWindow()).newPage();
        await page.goto('/');
        await page.getByLabel(choice).check();
        await signInAt(page);
        await page.getByText('Up to date').waitFor();
        await page.evaluate(DELAY_LOGOUT);
        await signOut(page);
      },
    );

    it('localStorage stores the tokens if the user chooses it, and the choice is remembered', async () => {
      const page = await (await env.openWindow()).newPage();
      await page.goto('/');
      await page.getByLabel(IN_STORAGE).check();
      await signInAt(page);
      await page.getByText('A script on this page can read 2 tokens').waitFor();
      expect(await readable(page)).toMatch(TOKEN);
      expect(await page.context().cookies()).toEqual([]);
      env.clock.advance(TTL);
      expect(await requestStatus(page)).toBe(200);
      await page.reload();
      await page.getByText('Signed in as alice').waitFor();
      await signOut(page);
      await page.reload();
      expect(await page.getByLabel(IN_STORAGE).isChecked()).toBe(true);
    });

    it('all tabs use the same choice of transport', async () => {
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
      }
    });
  },
);

describeInChromium('a server with a fixed transport', () => {
  it.each([
    [false, 'Cookies require HTTPS or localhost, and the server option `cookies`.', 'can read 2 tokens'],
    ['only', 'This server sends tokens only in cookies.', 'cannot read any token'],
  ])(
    'the login page shows that the server offers no choice of transport, cookies.mode: %s',
    async (mode, hint, summary) => {
      const env = await BrowserEnvironment.start({ cookies: { mode, secure: false } });
      const page = await (await env.openWindow()).newPage();
      await page.goto('/');
      await page.getByText(hint).waitFor();
      await signInAt(page);
      await page.getByText(summary).waitFor();
      await env.close();
    },
  );
});
