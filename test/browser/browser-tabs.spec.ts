import type { Page } from 'playwright-core';
import { HOUR, MINUTE } from '../support/driven-clock';
import { describeInChromium } from './chromium';
import { requestStatus, BrowserEnvironment, signInAt, type BrowserEnvironmentOptions } from './environment';

jest.setTimeout(180_000);

const TTL = 15 * MINUTE;

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

const requestInAll = (tabs: readonly Page[]): Promise<(number | string)[]> => Promise.all(tabs.map(requestStatus));

const ROUNDS = 20;

describeInChromium.each<[string, BrowserEnvironmentOptions]>([
  ['with tokens in their storage', { transport: 'bearer' }],
  ['with cookies of an API on another host', { transport: 'cookie', scheme: 'http' }],
])('tabs of one window, %s', (_title, options) => {
  let env: BrowserEnvironment;
  beforeAll(async () => (env = await BrowserEnvironment.start({}, options)));
  afterEach(async () => {
    expect(await env.recorded('token_reuse')).toBe(0);
    expect(env.errors).toEqual([]);
    await env.reset();
  });
  afterAll(() => env.close());

  it(`five tabs refresh once when their shared access token expires, ${ROUNDS} times`, async () => {
    const tabs = await openTabs(await env.signIn(), 5);
    for (let round = 1; round <= ROUNDS; round++) {
      env.clock.advance(TTL);
      env.traffic.answerTogether(5);
      expect(await requestInAll(tabs)).toEqual([200, 200, 200, 200, 200]);
      expect(await env.recorded('token_refresh')).toBe(round);
    }
    for (const tab of tabs) await tab.getByRole('heading', { name: 'Your devices' }).waitFor();
    expect(await env.recorded('login_success')).toBe(1);
  });

  it('after eight hours of sleep, the tabs refresh once and show the current state', async () => {
    const context = await env.openWindow();
    await context.clock.install();
    const first = await context.newPage();
    await first.goto('/');
    await signInAt(first);
    const tabs = await openTabs(first, 2);
    await (await env.signIn('alice')).close();
    env.dropConnections();
    env.clock.advance(8 * HOUR);
    await context.clock.fastForward(8 * HOUR);
    for (const tab of tabs) {
      await tab.getByText('Active just now, signed in 8 hours ago').waitFor();
      await tab.getByText('Active 8 hours ago').waitFor();
      await tab.getByText('Up to date').waitFor();
    }
    expect(await requestInAll(tabs)).toEqual([200, 200]);
    expect(await env.recorded('token_refresh')).toBe(1);
  });
});

describeInChromium.each<[string, object, BrowserEnvironmentOptions, status: number]>([
  ['with tokens in their storage', {}, { transport: 'bearer' }, 401],
  ['with tokens in their storage and a grace period', { refreshReuseGraceSeconds: 30 }, { transport: 'bearer' }, 200],
  ['with cookies of an API on another host', {}, { transport: 'cookie', scheme: 'http' }, 200],
])('closed tabs of one window, %s', (_title, auth, options, status) => {
  let env: BrowserEnvironment;
  beforeAll(async () => (env = await BrowserEnvironment.start(auth, options)));
  afterEach(() => env.reset());
  afterAll(() => env.close());

  it('closing a tab during a refresh causes no reuse, and requires a sign-in only without a grace period', async () => {
    const [closed, left] = (await openTabs(await env.signIn(), 2)) as [Page, Page];
    env.clock.advance(TTL);
    const { reached, release } = env.traffic.holdRefresh();
    const asked = requestStatus(closed).catch(() => 'closed');
    await reached;
    const answer = requestStatus(left);
    await closed.close();
    expect([await asked, await answer]).toEqual(['closed', status]);
    release();
    if (status === 401) await left.getByText('The renewal of your tokens was interrupted.').waitFor();
    expect([await env.recorded('token_reuse'), env.errors]).toEqual([0, []]);
  });
});
