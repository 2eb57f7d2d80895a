import { AuthClient, ClientError, localTokens, type AuthClientOptions } from 'nestjs-session-auth-client';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Browser, type Tab } from './simulated-browser';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/test-application';
import { TcpProxy } from '../support/tcp-proxy';
import { restorePassword, describeOnEachDatabase, type TestEnvironment } from '../support/environment';

const TTL = 15 * MINUTE;
const TIMEOUT = 10_000;

/** Returns a browser on the server's clock, which advances while the client waits. Requests never time out. */
function browserAt({ app }: TestEnvironment, sent: Promise<unknown>[] = []): Browser {
  const { clock } = app;
  return new Browser({
    fetch: (input, init) => {
      const answer = fetch(input, init);
      sent.push(answer);
      return answer;
    },
    clock: {
      now: () => clock.now(),
      wait: async (milliseconds, signal) => {
        if (milliseconds >= TIMEOUT) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        else clock.advance(milliseconds);
        await new Promise((resolve) => setImmediate(resolve));
      },
    },
  });
}

interface OpenedTab {
  readonly tab: Tab;
  readonly client: AuthClient;
  readonly emitted: string[];
}

function open(env: TestEnvironment, tab: Tab, grace: number, options: AuthClientOptions = {}): OpenedTab {
  const client = new AuthClient({
    baseUrl: env.app.url,
    storage: localTokens(undefined, tab.localStorage),
    refreshReuseGraceSeconds: grace,
    environment: tab.environment,
    ...options,
  });
  const emitted: string[] = [];
  for (const name of ['refreshed', 'signedOut', 'signedOutElsewhere', 'signInNeeded'] as const) {
    client.on(name, () => emitted.push(name));
  }
  return { tab, client, emitted };
}

async function status({ client }: OpenedTab): Promise<number | string> {
  return client.fetch('/me').then(
    async (answer) => (await answer.text(), answer.status),
    (error: ClientError) => error.code,
  );
}

const requestInAll = (tabs: readonly OpenedTab[]): Promise<(number | string)[]> => Promise.all(tabs.map(status));

/** Returns the number of recorded events with the given name. Replayed refreshes are counted separately. */
async function recorded({ app }: TestEnvironment, event: string, { replayed = false } = {}): Promise<number> {
  const rows: { extra: string }[] = await app.dataSource.query(
    `SELECT extra FROM auth_events WHERE event = '${event}'`,
  );
  return rows.filter(({ extra }) => extra.includes('replayed') === replayed).length;
}

describe.each([0, 10])('tabs and a server with a grace period of %i seconds', (grace) => {
  describeOnEachDatabase('the client', { auth: { refreshReuseGraceSeconds: grace } }, (env) => {
    afterEach(async () => {
      expect(await recorded(env, 'token_reuse')).toBe(0);
      expect(env.app.sent('token_reuse_detected')).toEqual([]);
    });

    it('the client refreshes once when the access token of five tabs expires, and all tabs stay signed in', async () => {
      const browser = browserAt(env);
      const tabs = Array.from({ length: 5 }, () => open(env, browser.openTab(), grace));
      await tabs[0]!.client.login('alice', PASSWORD);
      for (let round = 1; round <= 12; round++) {
        env.app.clock.advance(TTL);
        expect(await requestInAll(tabs)).toEqual([200, 200, 200, 200, 200]);
        expect(await recorded(env, 'token_refresh')).toBe(round);
      }
    });

    it('closing a tab at any point of a refresh causes no reuse, and with a grace period the other tabs stay signed in', async () => {
      const answers = new Set<number | string>();
      for (let point = 1; ; point++) {
        await env.app.reset();
        const sent: Promise<unknown>[] = [];
        const browser = browserAt(env, sent);
        const [first, ...others] = Array.from({ length: 3 }, () => open(env, browser.openTab(), grace));
        await first!.client.login('alice', PASSWORD);
        env.app.clock.advance(TTL);
        first!.tab.closesAtCall = first!.tab.calls + point;
        const asking = status(first!);
        let isAnswered = false;
        void asking.then(() => (isAnswered = true));
        while (!isAnswered && !first!.tab.isClosed) await new Promise((resolve) => setImmediate(resolve));
        if (!first!.tab.isClosed) break;
        for (const answer of await requestInAll(others)) answers.add(answer);
        env.app.clock.advance(TTL);
        await requestInAll(others);
        // The server still responds to the requests of a closed tab.
        await Promise.allSettled(sent);
        expect(await recorded(env, 'token_reuse')).toBe(0);
      }
      expect([...answers].sort()).toEqual(grace === 0 ? [200, 401] : [200]);
    });

    it('the client never causes reuse when the network loses the response to a refresh', async () => {
      const { proxy, url } = await TcpProxy.start(env.app.url);
      try {
        const browser = browserAt(env);
        let isCut = false;
        const tabs = Array.from({ length: 2 }, () => {
          const tab = browser.openTab();
          const cutting = async (input: string | Request, init?: RequestInit): Promise<Response> => {
            const isRefresh = new URL((input as Request).url).pathname.endsWith('/refresh/');
            const sent = fetch(input, init);
            if (!isRefresh || isCut) return sent;
            isCut = true;
            sent.catch(() => undefined);
            // The server has rotated the token, and its response is in transit.
            while ((await recorded(env, 'token_refresh')) === 0) await new Promise((resolve) => setImmediate(resolve));
            proxy.silence();
            await proxy.refuse();
            await proxy.heal();
            throw await sent.then(
              () => new TypeError('The response was too fast to be lost.'),
              (error: unknown) => error,
            );
          };
          return open(env, tab, grace, { baseUrl: url, environment: { ...tab.environment, fetch: cutting } });
        });
        await tabs[0]!.client.login('alice', PASSWORD);
        env.app.clock.advance(TTL);
        const expected = grace === 0 ? 401 : 200;
        expect(await requestInAll(tabs)).toEqual([expected, expected]);
        expect(await recorded(env, 'token_refresh')).toBe(1);
        expect(await recorded(env, 'token_refresh', { replayed: true })).toBe(grace === 0 ? 0 : 1);
        expect(tabs[0]!.emitted).toEqual([grace === 0 ? 'signInNeeded' : 'refreshed']);
        // The connection pool may still contain a connection that was cut: log in again.
        const login = (): Promise<unknown> => tabs[1]!.client.login('alice', PASSWORD);
        await login().catch(login);
        expect(await requestInAll(tabs)).toEqual([200, 200]);
      } finally {
        await proxy.stop();
      }
    });

    it('the client lists and revokes sessions, returns the history and changes the password, with names in camelCase', async () => {
      const browser = browserAt(env);
      const { client, emitted } = open(env, browser.openTab(), grace);
      const { sessionId } = await client.login('alice', PASSWORD);
      const other = await env.app.login();
      const sessions = await client.sessions();
      expect(sessions.find(({ isCurrent }) => isCurrent)).toMatchObject({
        id: sessionId,
        state: 'active',
        deviceType: 'other',
        createdAt: new Date(env.app.clock.now()),
        lastActivity: expect.any(Date),
      });
      await client.revoke(other.session_id);
      await expect(client.revoke(other.session_id)).rejects.toMatchObject({ code: 'not_found', status: 404 });
      expect((await client.history({ limit: 1 }))[0]).toEqual({
        id: expect.any(Number),
        event: 'session_revoked',
        ipAddress: '127.0.0.1',
        userAgent: expect.any(String),
        extra: { sessionId: other.session_id, reason: 'user' },
        timestamp: new Date(env.app.clock.now()),
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
      expect(emitted).toEqual(['refreshed', 'refreshed', 'signedOut']);
      await restorePassword(env.app);
    });

    it('the client changes the password while other tabs refresh, and all tabs stay signed in', async () => {
      const browser = browserAt(env);
      const tabs = Array.from({ length: 4 }, () => open(env, browser.openTab(), grace));
      await tabs[0]!.client.login('alice', PASSWORD);
      let password = PASSWORD;
      for (let round = 0; round < 5; round++) {
        env.app.clock.advance(TTL);
        const next = `another long password ${round}`;
        const [, ...answers] = await Promise.all([
          tabs[round % 4]!.client.changePassword(password, next),
          ...tabs.map(status),
        ]);
        password = next;
        expect(answers).toEqual([200, 200, 200, 200]);
      }
      await restorePassword(env.app);
    });

    it('the client refreshes an expired token before it logs out, so that the session ends', async () => {
      const browser = browserAt(env);
      const { client, emitted } = open(env, browser.openTab(), grace);
      await client.login('alice', PASSWORD);
      env.app.clock.advance(TTL);
      await client.logout();
      expect(emitted).toEqual(['refreshed', 'signedOut']);
      expect(await recorded(env, 'logout')).toBe(1);
      await client.logout();
    });

    it('the client reports signedOutElsewhere in every tab when another client has ended the session', async () => {
      const browser = browserAt(env);
      const tabs = Array.from({ length: 2 }, () => open(env, browser.openTab(), grace));
      await tabs[0]!.client.login('alice', PASSWORD);
      expect(await requestInAll(tabs)).toEqual([200, 200]);
      const { access_token: other } = await env.app.login();
      await env.app.post('/auth/logout/all', other).expect(200);
      expect(await requestInAll(tabs)).toEqual([401, 401]);
      for (const { emitted } of tabs) expect(emitted).toEqual(['signedOutElsewhere']);
    });

    it('the client keeps the session while the server cannot be reached', async () => {
      const { proxy, url } = await TcpProxy.start(env.app.url);
      const browser = browserAt(env);
      const tab = open(env, browser.openTab(), grace, { baseUrl: url, accessTokenTtlSeconds: 900 });
      try {
        await tab.client.login('alice', PASSWORD);
        env.app.clock.advance(TTL - 1_000);
        await proxy.refuse();
        // The first request on a kept-alive connection finds the connection broken. The client cannot know whether
        // the server received that request.
        await expect(fetch(url)).rejects.toThrow();
        await expect(tab.client.sessions()).rejects.toMatchObject({ code: 'offline' });
        await proxy.heal();
        env.app.clock.advance(2_000);
        expect(await status(tab)).toBe(200);
        expect(tab.emitted).toEqual(['refreshed']);
      } finally {
        await proxy.stop();
      }
    });
  });
});

describeOnEachDatabase('the client and a redirect to another origin', {}, (env) => {
  let elsewhere: Server;
  const seen: (string | undefined)[] = [];

  beforeAll(async () => {
    elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      if (request.url === '/back') response.writeHead(307, { Location: `${env.app.url}/me` });
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => elsewhere.close(resolve)));

  it('the client does not send the token to the origin that a redirect points to', async () => {
    const { port } = elsewhere.address() as AddressInfo;
    const moved = createServer((_, response) => {
      response.writeHead(307, { Location: `http://127.0.0.1:${port}/` }).end();
    });
    await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(moved.address() as AddressInfo).port}`;
    const client = new AuthClient({ baseUrl: env.app.url, origins: [origin] });
    await client.login('alice', PASSWORD);
    await client.fetch(`${origin}/`);
    expect(seen).toEqual([undefined]);
    await new Promise((resolve) => moved.close(resolve));
  });
});
