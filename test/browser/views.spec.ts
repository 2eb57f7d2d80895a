import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { MINUTE } from '../support/driven-clock';
import { describeInChromium } from './chromium';
import { signInAt, BrowserEnvironment } from './environment';
import { addAxe, expectAccessible, LOOKS, SIZES } from './page-checks';

jest.setTimeout(120_000);

const IMAGES = join(__dirname, '../../docs/images');
const PHONE: BrowserContextOptions = {
  userAgent:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
};

describeInChromium('the views of the page', () => {
  let env: BrowserEnvironment;
  beforeAll(async () => (env = await BrowserEnvironment.start()));
  beforeEach(() => env.reset());
  afterAll(() => env.close());

  it.each(LOOKS)('each view is accessible and fits the screen: $colorScheme, $size', async ({ colorScheme, size }) => {
    const context = await env.openWindow({ colorScheme, viewport: SIZES[size], reducedMotion: 'reduce' });
    await addAxe(context);
    const page = await context.newPage();
    await page.goto('/');
    await page.getByText('Users of the sample').waitFor();
    await expectAccessible(page);
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Please fill this in.').first().waitFor();
    await expectAccessible(page);
    await signInAt(page);
    await env.signIn('alice', PHONE);
    await page.locator('#devices li').nth(1).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Simulate a stolen token' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    await signInAt(page);
    await page.getByText('2 sessions ended.').first().waitFor();
    await expectAccessible(page);
    expect(env.errors).toEqual([]);
  });

  it.each(['desktop', 'phone'] as const)('a screenshot of the device list is saved on request: %s', async (size) => {
    const thief = await env.signIn();
    await thief.getByRole('button', { name: 'Simulate a stolen token' }).click();
    await thief.getByText('Sign in again to see the alert').waitFor();
    env.clock.advance(25 * MINUTE);
    const phone = await env.signIn('alice', PHONE);
    await phone.close();
    env.clock.advance(30 * MINUTE);
    const page = await env.signIn('alice', { viewport: SIZES[size], colorScheme: 'light' });
    env.clock.advance(5 * MINUTE);
    await page.clock.setFixedTime(env.clock.now());
    await page.reload();
    await page.getByText('Active just now, signed in 5 minutes ago').waitFor();
    await page.getByText('Active 35 minutes ago').waitFor();
    await page.getByText('Up to date').waitFor();
    if (!process.env['UPDATE_SCREENSHOTS']) return;
    mkdirSync(IMAGES, { recursive: true });
    await page.screenshot({ path: join(IMAGES, `devices-${size}.png`), fullPage: size === 'desktop' });
  });
});
