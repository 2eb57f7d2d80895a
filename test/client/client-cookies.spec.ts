import type { ClientError } from 'nestjs-session-auth-client';
import { CookieBrowser, type OpenedTab } from '../support/cookie-browser';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/test-application';
import { restorePassword, describeOnBothPlatforms, type TestEnvironment } from '../support/environment';

const TTL = 15 * MINUTE;

const status = ({ client }: OpenedTab): Promise<number | string> =>
  client.fetch('/me').then(
    async (answer) => (await answer.text(), answer.status),
    (error: ClientError) => error.code,
  );
const requestInAll = (tabs: readonly OpenedTab[]): Promise<(number | string)[]> => Promise.all(tabs.map(status));

async function recorded({ app }: TestEnvironment, event: string): Promise<number> {
  const rows: object[] = await app.dataSource.query(`SELECT id FROM auth_events WHERE event = '${event}'`);
  return rows.length;
}

const auth = { cookies: { mode: 'optional', secure: false } } as const;

describeOnBothPlatforms('the client with cookies', { auth }, (env) => {
  let browser: CookieBrowser;
  const open = (): OpenedTab => browser.open(env.app.url);
  beforeEach(() => (browser = new CookieBrowser(env.app)));
  afterEach(async () => {
    expect(await recorded(env, 'token_reuse')).toBe(0);
    expect(browser.bodies.join()).not.toMatch(/access_token"|refresh_token"/);
  });

  it('the client logs in, refreshes once for five tabs, and logs out, without a token in any response', async () => {
    const tabs = Array.from({ length: 5 }, open);
    await tabs[0]!.client.login('alice', PASSWORD);
    for (let round = 1; round <= 5; round++) {
      env.app.clock.advance(TTL);
      expect(await requestInAll(tabs)).toEqual([200, 200, 200, 200, 200]);
      expect(await recorded(env, 'token_refresh')).toBe(round);
    }
    env.app.clock.advance(TTL);
    await tabs[1]!.client.logout();
    expect([...browser.jar]).toEqual([]);
    for (const { ends } of tabs) expect(ends.map(({ reason }) => reason)).toEqual(['signedOut']);
    expect(await requestInAll(tabs)).toEqual([401, 401, 401, 401, 401]);
  });

  it('the client repeats a refresh whose response was lost, and the server detects no reuse', async () => {
    const one = open();
    await one.client.login('alice', PASSWORD);
    env.app.clock.advance(TTL);
    browser.losesNext = true;
    expect(await status(one)).toBe(200);
  });

  it('the client changes the password, and lists and ends sessions', async () => {
    const [one, other] = [open(), open()];
    const { sessionId } = await one.client.login('alice', PASSWORD);
    const foreign = await env.app.login();
    await one.client.revoke(foreign.session_id);
    expect((await one.client.sessions()).map(({ id }) => id)).toEqual([sessionId]);
    env.app.clock.advance(TTL);
    await one.client.changePassword(PASSWORD, 'a new long password');
    expect(await requestInAll([one, other])).toEqual([200, 200]);
    await restorePassword(env.app);
  });

  it('the client finds a session that it did not open, and reports the end of that session', async () => {
    await open().client.login('alice', PASSWORD);
    const jar = browser.jar;
    browser = new CookieBrowser(env.app);
    for (const [name, value] of jar) browser.jar.set(name, value);
    const one = open();
    expect(await one.client.isSignedIn()).toBe(true);
    const { access_token: token } = await env.app.login();
    await env.app.post('/auth/logout/all', token).expect(200);
    expect(await status(one)).toBe(401);
    expect(one.ends).toEqual([{ sessionId: expect.stringMatching(/^[\da-f-]{36}$/), reason: 'signedOutElsewhere' }]);
    expect(await one.client.isSignedIn()).toBe(false);
  });

  it('the error on a page with an untrusted origin names the option trustedOrigins', async () => {
    browser.origin = 'https://app.example.com';
    await expect(open().client.login('alice', PASSWORD)).rejects.toMatchObject({
      code: 'cross_site_request',
      detail: expect.stringContaining('trustedOrigins'),
    });
  });
});
