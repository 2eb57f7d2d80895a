import type { AuthClientOptions, ClientError } from 'nestjs-session-auth-client';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CookieBrowser, type OpenedTab } from '../support/cookie-browser';
import { MINUTE } from '../support/driven-clock';
import { describeHttp, restorePassword, storedSession } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const TTL = 15 * MINUTE;

/** The transports of the client, and the grace period of the client and the server in seconds. */
const SETUPS = [
  ['bearer', 0],
  ['bearer', 10],
  ['cookie', 10],
] as const;

const status = ({ client }: OpenedTab): Promise<number | string> =>
  client.fetch('/me').then(
    async (answer) => (await answer.text(), answer.status),
    (error: ClientError) => error.code,
  );
const requestInAll = (tabs: readonly OpenedTab[]): Promise<(number | string)[]> => Promise.all(tabs.map(status));

describe.each(SETUPS)('transport %s and a grace period of %i seconds', (transport, grace) => {
  const auth = {
    cookies: { mode: 'optional', secure: false },
    refreshReuseGraceSeconds: grace,
    endpoints: { reauthenticate: true },
    rememberMe: { idleTimeoutSeconds: 2_592_000, absoluteTimeoutSeconds: 7_776_000 },
  } as const;
  describeHttp('the client', { auth }, (env) => {
    let browser: CookieBrowser;
    const open = (options: AuthClientOptions = {}): OpenedTab =>
      browser.open(env.app.url, { transport, refreshReuseGraceSeconds: grace, ...options });

    /** Returns the number of recorded events with the given name. Replayed refreshes are counted separately. */
    const recorded = async (event: string, isReplayed = false): Promise<number> => {
      const sql = `SELECT extra FROM auth_events WHERE event = '${event}'`;
      const rows: { extra: string }[] = await env.app.dataSource.query(sql);
      return rows.filter(({ extra }) => extra.includes('replayed') === isReplayed).length;
    };

    beforeEach(() => (browser = new CookieBrowser(env.app)));
    afterEach(async () => {
      expect(await recorded('token_reuse')).toBe(0);
      expect(env.app.sent('token_reuse_detected')).toEqual([]);
      if (transport === 'cookie') expect(browser.bodies.join()).not.toMatch(/access_token"|refresh_token"/);
    });

    it('the client refreshes once for five tabs whose access token has expired, and a logout ends the session in all tabs', async () => {
      const tabs = Array.from({ length: 5 }, () => open());
      const { sessionId } = await tabs[0]!.client.login('alice', PASSWORD);
      for (let round = 1; round <= 5; round++) {
        env.app.clock.advance(TTL);
        expect(await requestInAll(tabs)).toEqual([200, 200, 200, 200, 200]);
        expect(await recorded('token_refresh')).toBe(round);
      }
      env.app.clock.advance(TTL);
      await tabs[1]!.client.logout();
      await tabs[1]!.client.logout();
      expect([await recorded('logout'), browser.jar.size]).toEqual([1, 0]);
      for (const { ends } of tabs) expect(ends).toEqual([{ sessionId, reason: 'signedOut' }]);
      expect(await requestInAll(tabs)).toEqual(Array(5).fill(transport === 'cookie' ? 401 : 'signed_out'));
    });

    it('the client never causes reuse when the response to a refresh is lost, and repeats it within the grace period', async () => {
      const tabs = [open(), open()] as const;
      await tabs[0].client.login('alice', PASSWORD);
      env.app.clock.advance(TTL);
      browser.losesNext = true;
      const expected = grace === 0 ? 401 : 200;
      expect(await requestInAll(tabs)).toEqual([expected, expected]);
      expect([await recorded('token_refresh'), await recorded('token_refresh', true)]).toEqual([
        1,
        grace === 0 ? 0 : 1,
      ]);
      const reasons = tabs.map(({ ends }) => ends.map(({ reason }) => reason));
      expect(reasons).toEqual(Array(2).fill(grace === 0 ? ['signInNeeded'] : []));
      tabs[0].client.on('sessionChanged', () => undefined);
      await tabs[1].client.login('alice', PASSWORD);
      expect(await tabs[0].client.isSignedIn()).toBe(true);
      expect(await requestInAll(tabs)).toEqual([200, 200]);
    });

    it('the client lists and revokes sessions, returns the history and changes the password, with names in camelCase', async () => {
      const { client } = open();
      const { sessionId } = await client.login('alice', PASSWORD);
      const other = await env.app.login();
      const now = new Date(env.app.clock.now());
      const own = { id: sessionId, state: 'active', deviceType: 'other', createdAt: now, lastActivity: now };
      expect((await client.sessions()).find(({ isCurrent }) => isCurrent)).toMatchObject(own);
      await client.revoke(other.session_id);
      await expect(client.revoke(other.session_id)).rejects.toMatchObject({ code: 'not_found', status: 404 });
      expect((await client.history({ limit: 1 }))[0]).toEqual({
        id: expect.any(Number),
        event: 'session_revoked',
        ipAddress: '127.0.0.1',
        userAgent: expect.any(String),
        extra: { sessionId: other.session_id, reason: 'user' },
        timestamp: now,
      });
      const [revoked, login] = await client.history({ event: ['session_revoked', 'login_success'] });
      expect([revoked!.event, login!.event]).toEqual(['session_revoked', 'login_success']);
      expect(await client.history({ before: revoked!.id, limit: 1, event: 'login_success' })).toEqual([login]);
      await expect(client.history({ limit: 0 })).rejects.toMatchObject({
        code: 'invalid_fields',
        status: 400,
        detail: 'A valid integer is required.',
        fields: { limit: ['A valid integer is required.'] },
      });
      await client.reauthenticate(PASSWORD);
      await expect(client.changePassword('wrong', 'a new long password')).rejects.toMatchObject({
        code: 'invalid_fields',
        fields: { currentPassword: ['Invalid password.'] },
      });
      env.app.clock.advance(TTL);
      await client.changePassword(PASSWORD, 'a new long password');
      expect((await client.fetch('/me')).status).toBe(200);
      await expect(client.login('alice', PASSWORD)).rejects.toMatchObject({
        name: 'ClientError',
        code: 'invalid_credentials',
        detail: 'Invalid credentials.',
        status: 400,
        retryAfter: null,
      });
      await env.app.login('alice', 'a new long password');
      expect(await client.logoutAll({ keepCurrent: true })).toBe(1);
      expect(await client.isSignedIn()).toBe(true);
      expect(await client.logoutAll()).toBe(1);
      expect(await client.isSignedIn()).toBe(false);
      const again = await client.login('alice', 'a new long password');
      await client.revoke(again.sessionId);
      expect(await client.isSignedIn()).toBe(false);
      await restorePassword(env.app);
    });

    it('the client asks for a remembered session only if the caller does', async () => {
      const remembered: boolean[] = [];
      for (const options of [{ rememberMe: true }, { rememberMe: false }, undefined]) {
        const { sessionId } = await open().client.login('alice', PASSWORD, options);
        remembered.push((await storedSession(env.app, sessionId)).remembered);
      }
      expect(remembered).toEqual([true, false, false]);
    });

    it('every tab, also one that has not opened the session, reports that another client has ended it', async () => {
      const { sessionId } = await open().client.login('alice', PASSWORD);
      const { jar } = browser;
      if (transport === 'cookie') {
        browser = new CookieBrowser(env.app);
        for (const [name, value] of jar) browser.jar.set(name, value);
      }
      const tabs = [open(), open()];
      for (const { client } of tabs) expect(await client.isSignedIn()).toBe(true);
      const { access_token: other } = await env.app.login();
      await env.app.post('/auth/logout/all', other).expect(200);
      expect(await requestInAll(tabs)).toEqual([401, 401]);
      for (const { ends } of tabs) expect(ends).toEqual([{ sessionId, reason: 'signedOutElsewhere' }]);
      expect(await tabs[0]!.client.isSignedIn()).toBe(false);
    });

    if (grace > 0) {
      it('restarting the server ten times while five tabs work signs nobody out, and loses no session', async () => {
        const server = env.app.nest.getHttpServer();
        const { port } = server.address() as AddressInfo;
        const start = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
        const turns = async (count: number) => {
          for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
        };
        const send = browser.fetch.bind(browser);
        let failures = 0;
        browser.fetch = (...request) =>
          send(...request).catch(async (error: unknown) => {
            // The server is back after four failed requests, which takes at most four seconds of the time of the client.
            if (++failures === 4 && !server.listening) await start();
            throw error;
          });
        const tabs = Array.from({ length: 5 }, () => open());
        await tabs[0]!.client.login('alice', PASSWORD);
        expect(await requestInAll(tabs)).toEqual([200, 200, 200, 200, 200]);
        for (let round = 0; round < 10; round++) {
          env.app.clock.advance(TTL);
          const asking = requestInAll(tabs);
          await turns(5 * round);
          failures = 0;
          server.close();
          server.closeAllConnections();
          expect(await asking).not.toContain('signed_out');
          if (!server.listening) await start();
          // The connections that were closed are reported.
          await turns(20);
          expect(await requestInAll(tabs)).toEqual([200, 200, 200, 200, 200]);
        }
        expect([tabs.flatMap(({ ends }) => ends), await recorded('login_success')]).toEqual([[], 1]);
      });
    }

    it('the server responds to the question whether it can be reached, which the client asks before a refresh', async () => {
      expect((await fetch(`${env.app.url}/auth/token/refresh`, { method: 'HEAD' })).status).toBe(204);
    });

    if (transport === 'cookie') {
      it('the error on a page with an untrusted origin names the option trustedOrigins', async () => {
        browser.origin = 'https://app.example.com';
        const detail: unknown = expect.stringContaining('trustedOrigins');
        const refused = { code: 'cross_site_request', status: 403, detail };
        await expect(open().client.login('alice', PASSWORD)).rejects.toMatchObject(refused);
      });
      return;
    }

    it('the client does not send the token to the origin that a redirect points to', async () => {
      const seen: unknown[] = [];
      const listen = async (location?: string): Promise<{ server: Server; url: string }> => {
        const server = createServer(({ headers }, response) => {
          seen.push(headers.authorization);
          response.writeHead(location ? 307 : 200, location ? { Location: location } : {}).end();
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      };
      const elsewhere = await listen();
      const origin = await listen(`${elsewhere.url}/`);
      const { client } = open({ origins: [origin.url] });
      await client.login('alice', PASSWORD);
      await client.fetch(`${origin.url}/`);
      for (const { server } of [origin, elsewhere]) await new Promise((resolve) => server.close(resolve));
      expect(seen).toEqual([expect.stringMatching(/^Bearer nsaa_/), undefined]);
    });
  });
});
