import type { Page } from 'playwright-core';
import { HOUR, MINUTE } from '../support/driven-clock';
import { describeInChromium } from './chromium';
import { askWith, Stage, type StageOptions } from './stage';

jest.setTimeout(180_000);

const TTL = 15 * MINUTE;
const SIGN_IN_AGAIN = 'A renewal of your tokens was interrupted.';

/** More tabs of the window, in which the user is signed in as well. */
async function openTabs(first: Page, count: number): Promise<Page[]> {
  const tabs = [first];
  while (tabs.length < count) {
    const tab = await first.context().newPage();
    await tab.goto('/');
    await tab.getByText('Up to date').waitFor();
    tabs.push(tab);
  }
  return tabs;
}

const askAll = (tabs: readonly Page[]): Promise<(number | string)[]> => Promise.all(tabs.map(askWith));

const SETUPS: readonly (readonly [string, number, StageOptions])[] = [
  ['with tokens in their storage', 50, { transport: 'bearer' }],
  ['with cookies of an API on another host', 20, { transport: 'cookie', scheme: 'http' }],
];

describeInChromium.each(SETUPS)('tabs of one window, %s', (_title, rounds, options) => {
  let at: Stage;
  beforeAll(async () => (at = await Stage.start({}, options)));
  afterEach(async () => {
    expect(await at.recorded('token_reuse')).toBe(0);
    expect(at.errors).toEqual([]);
    await at.reset();
  });
  afterAll(() => at.close());

  it(`refresh once when the access token of five of them ends at the same moment, ${rounds} times`, async () => {
    const tabs = await openTabs(await at.signIn(), 5);
    for (let round = 1; round <= rounds; round++) {
      at.clock.advance(TTL);
      at.traffic.answerTogether(5);
      expect(await askAll(tabs)).toEqual([200, 200, 200, 200, 200]);
      expect(await at.recorded('token_refresh')).toBe(round);
    }
    for (const tab of tabs) await tab.getByRole('heading', { name: 'Your devices' }).waitFor();
    expect(await at.recorded('login_success')).toBe(1);
  });

  it('know nothing of another window, which refreshes for itself', async () => {
    const windows = [await at.signIn(), await at.signIn()];
    at.clock.advance(TTL);
    expect(await askAll(windows)).toEqual([200, 200]);
    expect(await at.recorded('token_refresh')).toBe(2);
  });

  it('are up to date again after a night asleep, with one refresh', async () => {
    const context = await at.openWindow();
    await context.clock.install();
    const tabs: Page[] = [];
    for (let index = 0; index < 2; index++) {
      const tab = await context.newPage();
      await tab.goto('/');
      tabs.push(tab);
    }
    const [first, second] = tabs as [Page, Page];
    await first.getByLabel('Name').fill('alice');
    await first.getByLabel('Password', { exact: true }).fill('secret');
    await first.keyboard.press('Enter');
    for (const tab of tabs) await tab.getByText('Up to date').waitFor();
    const other = await at.signIn('alice');
    await second
      .getByRole('button', { name: /^Sign out Chrome/ })
      .nth(1)
      .waitFor();
    await other.close();

    at.dropConnections();
    at.clock.advance(8 * HOUR);
    await context.clock.fastForward(8 * HOUR);
    for (const tab of tabs) {
      await tab.getByText('Active just now, signed in 8 hours ago').waitFor();
      await tab.getByText('Active 8 hours ago').waitFor();
      await tab.getByText('Up to date').waitFor();
    }
    expect(await askAll(tabs)).toEqual([200, 200]);
    expect(await at.recorded('token_refresh')).toBe(1);
  });
});

describeInChromium('tabs of one window, with a server that forgives nothing', () => {
  let at: Stage;
  beforeAll(async () => (at = await Stage.start()));
  afterEach(async () => {
    expect(await at.recorded('token_reuse')).toBe(0);
    expect(at.errors).toEqual([]);
    await at.reset();
  });
  afterAll(() => at.close());

  it.each(['request', 'answer'] as const)(
    'ask the user to sign in, and raise no alarm, when one was closed with its %s of a refresh on the way',
    async (where) => {
      const [closed, left] = (await openTabs(await at.signIn(), 2)) as [Page, Page];
      at.clock.advance(TTL);
      const { reached, letGo } = at.traffic.holdRefresh(where);
      const asked = askWith(closed).catch(() => 'closed');
      await reached;
      const answer = askWith(left);
      await closed.close();
      expect(await asked).toBe('closed');
      expect(await answer).toBe(401);
      letGo();
      await left.getByText(SIGN_IN_AGAIN).waitFor();
    },
  );
});

const FORGIVING: readonly (readonly [string, object, StageOptions])[] = [
  ['with tokens in their storage', { refreshReuseGraceSeconds: 30 }, { transport: 'bearer' }],
  ['with cookies of an API on another host', {}, { transport: 'cookie', scheme: 'http' }],
];

describeInChromium.each(FORGIVING)('with a grace period, tabs of one window, %s', (_title, auth, options) => {
  let at: Stage;
  beforeAll(async () => (at = await Stage.start(auth, options)));
  afterAll(() => at.close());

  it('see a thief at work all the same', async () => {
    const page = await at.signIn();
    await page.getByRole('button', { name: 'Simulate a stolen token' }).click();
    await page.getByText('So it has ended 1 session, all that you had').waitFor();
    expect(await at.recorded('token_reuse')).toBe(1);
    await at.reset();
  });

  it.each(['request', 'answer'] as const)(
    'stay signed in when one was closed with its %s of a refresh on the way',
    async (where) => {
      const [closed, left] = (await openTabs(await at.signIn(), 2)) as [Page, Page];
      at.clock.advance(TTL);
      const { reached, letGo } = at.traffic.holdRefresh(where);
      const asked = askWith(closed).catch(() => 'closed');
      await reached;
      await closed.close();
      await asked;
      expect(await askWith(left)).toBe(200);
      letGo();
      expect(await at.recorded('token_reuse')).toBe(0);
      await at.reset();
    },
  );
});
