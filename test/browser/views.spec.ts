import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { MINUTE } from '../support/driven-clock';
import { describeInChromium } from './chromium';
import { signInAt, Stage } from './stage';

jest.setTimeout(120_000);

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');
const IMAGES = join(__dirname, '../../docs/images');
const SIZES = { desktop: { width: 1_200, height: 900 }, phone: { width: 390, height: 844 } } as const;
const PHONE: BrowserContextOptions = {
  userAgent:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
};

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds on the page as it is, told with the elements. */
async function findings(page: Page): Promise<string[]> {
  // The colours of a button fade in.
  await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => undefined)))');
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
  return violations.map(({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

async function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

describeInChromium('each view of the page', () => {
  let at: Stage;
  beforeAll(async () => (at = await Stage.start()));
  beforeEach(() => at.reset());
  afterAll(() => at.close());

  const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
    (['desktop', 'phone'] as const).map((size) => ({ colorScheme, size })),
  );

  it.each(looks)('is accessible and fits: $colorScheme, $size', async ({ colorScheme, size }) => {
    const context = await at.openWindow({ colorScheme, viewport: SIZES[size], reducedMotion: 'reduce' });
    await context.addInitScript({ content: AXE });
    const page = await context.newPage();
    const check = async (): Promise<void> => {
      expect(await findings(page)).toEqual([]);
      expect(await isTooWide(page)).toBe(false);
    };
    await page.goto('/');
    await page.getByText('Users of the sample').waitFor();
    await check();
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Please fill this in.').first().waitFor();
    await check();
    await signInAt(page);
    await at.signIn('alice', PHONE);
    await page.locator('#devices li').nth(1).waitFor();
    await check();
    await page.getByRole('button', { name: 'Simulate a stolen token' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await check();
    await signInAt(page);
    await page.getByText('2 sessions ended.').first().waitFor();
    await check();
    expect(at.errors).toEqual([]);
  });

  it.each(['desktop', 'phone'] as const)('is kept as a picture where that is wanted: %s', async (size) => {
    const thief = await at.signIn();
    await thief.getByRole('button', { name: 'Simulate a stolen token' }).click();
    await thief.getByText('Sign in again: the alert').waitFor();
    at.clock.advance(25 * MINUTE);
    const phone = await at.signIn('alice', PHONE);
    await phone.close();
    at.clock.advance(30 * MINUTE);
    const page = await at.signIn('alice', { viewport: SIZES[size], colorScheme: 'light' });
    at.clock.advance(5 * MINUTE);
    await page.clock.setFixedTime(at.clock.now());
    await page.reload();
    await page.getByText('Active just now, signed in 5 minutes ago').waitFor();
    await page.getByText('Active 35 minutes ago').waitFor();
    await page.getByText('Up to date').waitFor();
    if (!process.env['UPDATE_SCREENSHOTS']) return;
    mkdirSync(IMAGES, { recursive: true });
    await page.screenshot({ path: join(IMAGES, `devices-${size}.png`), fullPage: size === 'desktop' });
  });
});
