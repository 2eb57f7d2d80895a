import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { describeInChromium, launch } from './chromium';
import { addAxe, expectAccessible, LOOKS, SIZES } from './page-checks';

const SITE = join(__dirname, '../../website/.vitepress/dist');
const ORIGIN = 'http://site.localhost';
/** Pages with a picture, code, tables and diagrams, and one of the API reference. */
const PAGES = ['/', '/events', '/how-sessions-work', '/api/classes/index.AuthError'];

/** The site is built by `npm run docs`, which takes a minute, so that only CI requires it. */
const describeSite = existsSync(SITE) || process.env['CI'] ? describeInChromium : describe.skip;

describeSite('the website', () => {
  let browser: Browser;
  beforeAll(async () => (browser = await launch()));
  afterAll(() => browser.close());

  async function open(settings: object): Promise<Page> {
    const context = await browser.newContext({ baseURL: ORIGIN, reducedMotion: 'reduce', ...settings });
    await addAxe(context);
    await context.route(`${ORIGIN}/**`, (route) => {
      const path = join(SITE, new URL(route.request().url()).pathname.replace(/\/$/, '/index.html'));
      return route.fulfill({ path: existsSync(path) ? path : `${path}.html` });
    });
    return context.newPage();
  }

  // Colors do not depend on the size of the screen, nor the layout on the color scheme.
  it.each([LOOKS[0]!, LOOKS[3]!])(
    'the pages of the website are accessible and fit the screen: $colorScheme, $size',
    async ({ colorScheme, size }) => {
      const page = await open({ colorScheme, viewport: SIZES[size] });
      for (const path of PAGES) {
        await page.goto(path, { waitUntil: 'networkidle' });
        // TypeDoc's own script builds this list, with links inside the buttons that fold it.
        await expectAccessible(page, path.startsWith('/api/') ? '.site-menu' : undefined);
      }
      await page.context().close();
    },
    120_000,
  );

  it('the front page of the website shows the sessions page and the quick start, and the search finds an option', async () => {
    const page = await open({});
    await page.goto('/');
    expect(await page.getByRole('img', { name: /devices|sessions/ }).count()).toBe(1);
    expect(await page.getByRole('heading', { name: 'Quick start' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('refreshReuseGraceSeconds');
    await page.getByRole('listbox').getByRole('link').first().click();
    await page.waitForURL(/#/);
    await page.getByRole('main').getByText('refreshReuseGraceSeconds').first().waitFor();
    await page.context().close();
  });
});
