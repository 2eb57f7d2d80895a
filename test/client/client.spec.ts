import type { AuthClientOptions, ClientError } from 'nestjs-session-auth-client';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CookieBrowser, type OpenedTab } from '../support/cookie-browser';
import { MINUTE } from '../support/driven-clock';
import { describeHttp, restorePassword, storedSession } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const TTL = 15 * MINUTE;
const auth = {
  cookies: { mode: 'optional', secure: false },
  refreshReuseGraceSeconds: 10,
  endpoints: { reauthenticate: true },
  rememberMe: { idleTimeoutSeconds: 2_592_000, absoluteTimeoutSeconds: 7_776_000 },
} as const;

const requestInAll = (tabs: readonly OpenedTab[]): Promise<(number | string)[]> =>
  Promise.all(
    tabs.map(({ client }) =>
      client.fetch('/me').then(
        async (answer) => (await answer.text(), answer.status),
        (error: ClientError) => error.code,
      ),
    ),
  );

describe.each(['bearer', 'cookie'] as const)('transport %s', (transport) => {
  describeHttp('the client', { auth }, (env) => {
    let browser: CookieBrowser;
    const open = (options: AuthClientOptions = {}): OpenedTab =>
      browser.open(env.app.url, { transport, refreshReuseGraceSeconds: 10, ...options });
    const recorded = (event: string): Promise<object[]> =>
      env.app.dataSource.query(`SELECT id FROM auth_events WHERE event = '${event}'`);

    beforeEach(() => (browser = new CookieBrowser(env.app)));
    afterEach(async () => {
      expect([await recorded('token_reuse'), env.app.sent('token_reuse_detected')]).toEqual([[], []]);
      if (transport === 'cookie') expect(browser.bodies.join()).not.toMatch(/access_token"|refresh_token"/);
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
      const detail = 'A valid integer is required.';
      const invalid = { code: 'invalid_fields', status: 400, detail, fields: { limit: [detail] } };
      await expect(client.history({ limit: 0 })).rejects.toMatchObject(invalid);
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
      expect([await client.logoutAll({ keepCurrent: true }), await client.isSignedIn()]).toEqual([1, true]);
      expect([await client.logoutAll(), await client.isSignedIn()]).toEqual([1, false]);
      const again = await client.login('alice', 'a new long password');
      await client.revoke(again.sessionId);
      expect(await client.isSignedIn()).toBe(false);
      await restorePassword(env.app);
    });

    it('the client asks for a remembered session only if the caller does', async () => {
      for (const [options, isRemembered] of [[{ rememberMe: true }, true] as const, [undefined, false] as const]) {
        const { sessionId } = await open().client.login('alice', PASSWORD, options);
        expect((await storedSession(env.app, sessionId)).remembered).toBe(isRemembered);
      }
    });

    it('restarting the server ten times while five tabs work keeps the user signed in, and a logout ends the session in all tabs', async () => {
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
      const { sessionId } = await tabs[0]!.client.login('alice', PASSWORD);
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
      expect([tabs.flatMap(({ ends }) => ends), await recorded('login_success')]).toEqual([[], [expect.anything()]]);
      await tabs[1]!.client.logout();
      for (const { ends } of tabs) expect(ends).toEqual([{ sessionId, reason: 'signedOut' }]);
      expect([await recorded('logout'), browser.jar.size]).toEqual([[expect.anything()], 0]);
    });

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
