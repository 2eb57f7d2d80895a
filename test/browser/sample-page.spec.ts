import type { BrowserContextOptions, Page } from 'playwright-core';
import { describeInChromium } from './chromium';
import { MARKUP, expectDevices, waitForFocus, signInAt, BrowserEnvironment } from './environment';

jest.setTimeout(120_000);

const PHONE: BrowserContextOptions = {
  userAgent:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
};
const THIS_DEVICE = 'Chrome on Linux This device';
const ON_PHONE = 'Mobile Safari on iOS';
const ENDED = 'This session has ended: it was signed out from another device, or it expired.';

const rows = (page: Page): ReturnType<Page['locator']> => page.locator('#devices li');

describeInChromium.each(['cookie', 'bearer'] as const)('the devices page, transport: %s', (transport) => {
  let env: BrowserEnvironment;
  beforeAll(async () => (env = await BrowserEnvironment.start({}, { transport })));
  let thefts = 0;
  beforeEach(async () => {
    await env.reset();
    thefts = 0;
  });
  afterEach(async () => {
    expect(env.errors).toEqual([]);
    expect(await env.recorded('token_reuse')).toBe(thefts);
  });
  afterAll(() => env.close());

  it('the page explains the library and sends no request that fails, and alice can sign in with the keyboard only', async () => {
    const page = await (await env.openWindow()).newPage();
    await page.goto('/');
    await page.getByRole('heading', { name: 'See where you are signed in. Sign out any device.' }).waitFor();
    await page.getByText('Users of the sample: alice with the password secret').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('alice');
    await page.keyboard.press('Enter');
    await page.getByText('Please fill this in.').waitFor();
    await waitForFocus(page, 'password');
    expect(env.traffic.exchanges.filter(({ status }) => status >= 400)).toEqual([]);
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('Invalid credentials.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill('secret');
    await page.keyboard.press('Enter');
    await page.getByText('Up to date').waitFor();
    await waitForFocus(page, 'devices-title');
    await expectDevices(page, THIS_DEVICE);
    await page.getByText('This computer (127.0.0.1)').first().waitFor();
    await page.getByText('Failed sign-in').waitFor();
  });

  it('a device appears when it signs in, and a window shows immediately that it was signed out by another device', async () => {
    const bob = await env.signIn('bob');
    const desk = await env.signIn();
    const phone = await env.signIn('alice', PHONE);
    await rows(desk).nth(1).waitFor();
    await expectDevices(desk, THIS_DEVICE, ON_PHONE);
    await expectDevices(phone, `${ON_PHONE} This device`, 'Chrome on Linux');
    await desk.getByRole('button', { name: `Sign out ${ON_PHONE}` }).click();
    await phone.getByText(ENDED).waitFor();
    await waitForFocus(phone, 'sign-in-title');
    await desk.getByText(`${ON_PHONE} is signed out.`).waitFor();
    await expectDevices(desk, THIS_DEVICE);
    await waitForFocus(desk, 'devices-title');
    await desk.getByText('Session ended: signed out from another device').waitFor();
    const others = [await env.signIn('alice', PHONE), await env.signIn()];
    await rows(desk).nth(2).waitFor();
    await desk.getByRole('button', { name: 'Sign out all others' }).click();
    await desk.getByText('2 sessions ended. Only this device is signed in.').waitFor();
    for (const other of others) await other.getByText(ENDED).waitFor();
    await desk.getByRole('button', { name: 'Sign out all others' }).waitFor({ state: 'hidden' });
    await desk.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
    await desk.getByText('You have signed out.').waitFor();
    // As after a login that the server opened itself: the page finds the session by its cookies.
    if (transport === 'cookie') await bob.evaluate("localStorage.removeItem('nestjs-session-auth:cookie')");
    await bob.reload();
    await bob.getByText('Signed in as bob').waitFor();
  });

  it('the simulated theft ends all sessions, and the alert and the history show it after the next sign-in', async () => {
    thefts = 1;
    const desk = await env.signIn();
    const tab = await desk.context().newPage();
    await tab.goto('/');
    const phone = await env.signIn('alice', PHONE);
    await desk.getByText('No alerts. None of your refresh tokens was used twice.').waitFor();
    await desk.getByRole('button', { name: 'Simulate a stolen token' }).click();
    await desk.getByText('The server has seen it before and refuses it: 400.').waitFor();
    await desk.getByText('so it has ended all of your sessions (2 sessions)').waitFor();
    await desk.getByRole('button', { name: 'Sign in' }).waitFor();
    await waitForFocus(desk, 'story');
    await phone.getByText(ENDED).waitFor();
    await tab.getByRole('button', { name: 'Sign in' }).waitFor();

    await signInAt(desk);
    await desk
      .getByText('a used refresh token was presented from this computer (127.0.0.1). 2 sessions ended.')
      .waitFor();
    await desk.getByText('A stolen token was detected: 2 sessions ended').waitFor();
    await tab.getByText('Signed in as alice').waitFor();
  });

  it('names are shown as text, and markup in them is not executed', async () => {
    const page = await env.signIn(MARKUP, { userAgent: `Mozilla/5.0 ${MARKUP}` });
    await page.getByText(`Signed in as ${MARKUP}`).waitFor();
    expect(await page.locator('img').count()).toBe(1);
  });
});

describeInChromium('a sample application with open pages', () => {
  it('the sample application stops without waiting for open pages', async () => {
    const env = await BrowserEnvironment.start();
    const page = await env.signIn();
    await env.stopApplication();
    await page.getByText('Connecting').waitFor();
    await env.close();
  });
});
