import type { BrowserContextOptions, Page } from 'playwright-core';
import { describeInChromium } from './chromium';
import { MARKUP, PASSWORD, seeDevices, seeFocus, signInAt, Stage } from './stage';

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
  let at: Stage;
  beforeAll(async () => (at = await Stage.start({}, { transport })));
  let thefts = 0;
  let bobsPassword = PASSWORD;
  beforeEach(async () => {
    await at.reset();
    thefts = 0;
  });
  afterEach(async () => {
    expect(at.errors).toEqual([]);
    expect(await at.recorded('token_reuse')).toBe(thefts);
  });
  afterAll(() => at.close());

  it('tells what the library does, and lets alice in by the keyboard alone', async () => {
    const page = await (await at.openWindow()).newPage();
    await page.goto('/');
    await page.getByRole('heading', { name: 'See who is signed in. End it at once.' }).waitFor();
    await page.getByText('Users of the sample: alice with the password secret').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('alice');
    await page.keyboard.press('Enter');
    await page.getByText('Please fill this in.').waitFor();
    await seeFocus(page, 'password');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('Invalid credentials.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill('');
    await page.getByLabel('Password', { exact: true }).press('s');
    await page.keyboard.type('ecret');
    await page.keyboard.press('Enter');
    await page.getByText('Up to date').waitFor();
    await seeFocus(page, 'devices-title');
    await seeDevices(page, THIS_DEVICE);
    await page.getByText('This computer (127.0.0.1)').first().waitFor();
    await page.getByText('Failed sign-in').waitFor();
  });

  it('shows a device as soon as it signs in, and signs it out: that window knows at once', async () => {
    const desk = await at.signIn();
    const phone = await at.signIn('alice', PHONE);
    await rows(desk).nth(1).waitFor();
    await seeDevices(desk, THIS_DEVICE, ON_PHONE);
    await seeDevices(phone, `${ON_PHONE} This device`, 'Chrome on Linux');
    await desk.getByRole('button', { name: `Sign out ${ON_PHONE}` }).click();
    await phone.getByText(ENDED).waitFor();
    await seeFocus(phone, 'sign-in-title');
    await desk.getByText(`${ON_PHONE} is signed out.`).waitFor();
    await seeDevices(desk, THIS_DEVICE);
    await seeFocus(desk, 'devices-title');
    await desk.getByText('Session ended: signed out from another device').waitFor();
  });

  it('signs out all others, and then itself; other users stay', async () => {
    const bob = await at.signIn('bob');
    const desk = await at.signIn();
    const others = [await at.signIn('alice', PHONE), await at.signIn()];
    await rows(desk).nth(2).waitFor();
    await desk.getByRole('button', { name: 'Sign out all others' }).click();
    await desk.getByText('2 sessions ended. Only this device is signed in.').waitFor();
    for (const other of others) await other.getByText(ENDED).waitFor();
    await desk.getByRole('button', { name: 'Sign out all others' }).waitFor({ state: 'hidden' });
    await desk.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
    await desk.getByText('You have signed out.').waitFor();
    await bob.reload();
    await bob.getByText('Signed in as bob').waitFor();
  });

  it('changes the password, tells at each field what is wrong with it, and keeps this device alone', async () => {
    const desk = await at.signIn('bob');
    const phone = await at.signIn('bob', PHONE);
    const change = async (current: string, next: string): Promise<void> => {
      await desk.getByLabel('Current password').fill(current);
      await desk.getByLabel('New password').fill(next);
      await desk.getByRole('button', { name: 'Change password' }).click();
    };
    await change('secret', 'short');
    await desk.locator('#next-wrong:not(:empty)').waitFor();
    await seeFocus(desk, 'next');
    await change('wrong', 'a new long password');
    await desk.getByText('Invalid password.').waitFor();
    await seeFocus(desk, 'current');
    await change('secret', 'a new long password');
    bobsPassword = 'a new long password';
    await desk.getByText('The password is changed, and every other device is signed out.').waitFor();
    await phone.getByText(ENDED).waitFor();
    await seeDevices(desk, THIS_DEVICE);
    await signInAt(phone, 'bob', bobsPassword);
  });

  it('plays a thief: all sessions end, and the alert and the history tell of it after the next sign-in', async () => {
    thefts = 1;
    const desk = await at.signIn();
    const tab = await desk.context().newPage();
    await tab.goto('/');
    const phone = await at.signIn('alice', PHONE);
    await desk.getByText('None. The server has never seen a token of yours twice.').waitFor();
    await desk.getByRole('button', { name: 'Simulate a stolen token' }).click();
    await desk.getByText('The server has seen it before and refuses it: 400.').waitFor();
    await desk.getByText('So it has ended 2 sessions, all that you had').waitFor();
    await desk.getByRole('button', { name: 'Sign in' }).waitFor();
    await seeFocus(desk, 'story');
    await phone.getByText(ENDED).waitFor();
    await tab.getByRole('button', { name: 'Sign in' }).waitFor();

    await signInAt(desk);
    await desk
      .getByText('a used refresh token was presented from this computer (127.0.0.1). 2 sessions ended.')
      .waitFor();
    await desk.getByText('A stolen token was detected: 2 sessions ended').waitFor();
    await tab.getByText('Signed in as alice').waitFor();
  });

  it('ends with its session, whoever has ended that: here a system that knows nothing of the library', async () => {
    const page = await at.signIn('bob', {}, bobsPassword);
    expect(await at.setActive('bob', false)).toBe(1);
    await page.getByText(ENDED).waitFor();
    await at.setActive('bob', true);
  });

  it('signs all tabs of a window out together, and in together', async () => {
    const one = await at.signIn();
    const two = await one.context().newPage();
    await two.goto('/');
    await two.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
    await one.getByText('You have signed out.').waitFor();
    await signInAt(one);
    await two.getByText('Up to date').waitFor();
    await one.close();
    await at.signIn('alice', PHONE);
    await two.getByRole('heading', { name: ON_PHONE }).waitFor();
  });

  it('shows names as they are, and runs nothing that they hold', async () => {
    const page = await at.signIn(MARKUP, { userAgent: `Mozilla/5.0 ${MARKUP}` });
    await page.getByText(`Signed in as ${MARKUP}`).waitFor();
    expect(await page.locator('img').count()).toBe(1);
  });

  it('says that the server is away, and goes on by itself when it is back', async () => {
    const page = await at.signIn();
    await page.context().setOffline(true);
    at.dropConnections();
    await page.getByText('Connecting').waitFor();
    await page.context().setOffline(false);
    await page.getByText('Up to date').waitFor();
    at.errors.length = 0;
  });
});

describeInChromium('a sample host with open pages', () => {
  it('stops without waiting for them', async () => {
    const at = await Stage.start();
    const page = await at.signIn();
    await at.stopHost();
    await page.getByText('Connecting').waitFor();
    await at.close();
  });
});
