import { AuthClient, ClientError, localTokens, type AuthClientOptions } from 'nestjs-session-auth-client';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Browser, type Tab } from '../client/browser';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/host';
import { TcpProxy } from '../support/tcp-proxy';
import { restorePassword, stories, type Stage } from './stories';

const TTL = 15 * MINUTE;
const TIMEOUT = 10_000;

/** A browser whose clock, that of the server, advances while the client waits; requests never time out. */
function browserAt({ host }: Stage, sent: Promise<unknown>[] = []): Browser {
  const { clock } = host;
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

interface Opened {
  readonly tab: Tab;
  readonly client: AuthClient;
  readonly emitted: string[];
}

function open(at: Stage, tab: Tab, grace: number, options: AuthClientOptions = {}): Opened {
  const client = new AuthClient({
    baseUrl: at.host.url,
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

async function status({ client }: Opened): Promise<number | string> {
  return client.fetch('/me').then(
    async (answer) => (await answer.text(), answer.status),
    (error: ClientError) => error.code,
  );
}

const askAll = (tabs: readonly Opened[]): Promise<(number | string)[]> => Promise.all(tabs.map(status));

/** How many events of a kind are recorded, those of replayed responses apart. */
async function recorded({ host }: Stage, event: string, { replayed = false } = {}): Promise<number> {
  const rows: { extra: string }[] = await host.dataSource.query(
    `SELECT extra FROM auth_events WHERE event = '${event}'`,
  );
  return rows.filter(({ extra }) => extra.includes('replayed') === replayed).length;
}

describe.each([0, 10])('tabs against a server with a grace of %i seconds', (grace) => {
  stories('the client', { auth: { refreshReuseGraceSeconds: grace } }, (at) => {
    afterEach(async () => {
      expect(await recorded(at, 'token_reuse')).toBe(0);
      expect(at.host.sent('token_reuse_detected')).toEqual([]);
    });

    it('refreshes once when the access token of five tabs expires, and all stay signed in', async () => {
      const browser = browserAt(at);
      const tabs = Array.from({ length: 5 }, () => open(at, browser.openTab(), grace));
      await tabs[0]!.client.login('alice', PASSWORD);
      for (let round = 1; round <= 12; round++) {
        at.host.clock.advance(TTL);
        expect(await askAll(tabs)).toEqual([200, 200, 200, 200, 200]);
        expect(await recorded(at, 'token_refresh')).toBe(round);
      }
    });

    it('keeps the other tabs working when one is closed at any point of its refresh', async () => {
      const answers = new Set<number | string>();
      for (let point = 1; ; point++) {
        await at.host.reset();
        const sent: Promise<unknown>[] = [];
        const browser = browserAt(at, sent);
        const [first, ...others] = Array.from({ length: 3 }, () => open(at, browser.openTab(), grace));
        await first!.client.login('alice', PASSWORD);
        at.host.clock.advance(TTL);
        first!.tab.closesAt = first!.tab.points + point;
        const asking = status(first!);
        let isAnswered = false;
        void asking.then(() => (isAnswered = true));
        while (!isAnswered && !first!.tab.isClosed) await new Promise((resolve) => setImmediate(resolve));
        if (!first!.tab.isClosed) break;
        for (const answer of await askAll(others)) answers.add(answer);
        at.host.clock.advance(TTL);
        await askAll(others);
        // The requests of a closed tab are answered nevertheless.
        await Promise.allSettled(sent);
        expect(await recorded(at, 'token_reuse')).toBe(0);
      }
      expect([...answers].sort()).toEqual(grace === 0 ? [200, 401] : [200]);
    });

    it('never causes reuse when the network loses the response to a refresh', async () => {
      const { proxy, url } = await TcpProxy.start(at.host.url);
      try {
        const browser = browserAt(at);
        let isCut = false;
        const tabs = Array.from({ length: 2 }, () => {
          const tab = browser.openTab();
          const cutting = async (input: string | Request, init?: RequestInit): Promise<Response> => {
            const isRefresh = new URL((input as Request).url).pathname.endsWith('/refresh/');
            const sent = fetch(input, init);
            if (!isRefresh || isCut) return sent;
            isCut = true;
            sent.catch(() => undefined);
            // The server has refreshed, and its response is on the way.
            while ((await recorded(at, 'token_refresh')) === 0) await new Promise((resolve) => setImmediate(resolve));
            proxy.silence();
            await proxy.refuse();
            await proxy.heal();
            throw await sent.then(
              () => new TypeError('The response was too fast to be lost.'),
              (error: unknown) => error,
            );
          };
          return open(at, tab, grace, { baseUrl: url, environment: { ...tab.environment, fetch: cutting } });
        });
        await tabs[0]!.client.login('alice', PASSWORD);
        at.host.clock.advance(TTL);
        const expected = grace === 0 ? 401 : 200;
        expect(await askAll(tabs)).toEqual([expected, expected]);
        expect(await recorded(at, 'token_refresh')).toBe(1);
        expect(await recorded(at, 'token_refresh', { replayed: true })).toBe(grace === 0 ? 0 : 1);
        expect(tabs[0]!.emitted).toEqual([grace === 0 ? 'signInNeeded' : 'refreshed']);
        // The connection pool may still contain a connection that was cut: log in again.
        const login = (): Promise<unknown> => tabs[1]!.client.login('alice', PASSWORD);
        await login().catch(login);
        expect(await askAll(tabs)).toEqual([200, 200]);
      } finally {
        await proxy.stop();
      }
    });

    it('lists and revokes sessions, returns the history and changes the password, with camelCase names', async () => {
      const browser = browserAt(at);
      const { client, emitted } = open(at, browser.openTab(), grace);
      const { sessionId } = await client.login('alice', PASSWORD);
      const other = await at.host.login();
      const sessions = await client.sessions();
      expect(sessions.find(({ isCurrent }) => isCurrent)).toMatchObject({
        id: sessionId,
        state: 'active',
        deviceType: 'other',
        createdAt: new Date(at.host.clock.now()),
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
        timestamp: new Date(at.host.clock.now()),
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
      at.host.clock.advance(TTL);
      await client.changePassword(PASSWORD, 'a new long password');
      expect((await client.fetch('/me')).status).toBe(200);
      await expect(client.login('alice', PASSWORD)).rejects.toMatchObject({
        name: 'ClientError',
        code: 'invalid_credentials',
        detail: 'Invalid credentials.',
        status: 400,
        retryAfter: null,
      });
      await at.host.login('alice', 'a new long password');
      expect(await client.logoutAll({ keepCurrent: true })).toBe(1);
      expect(await client.isSignedIn()).toBe(true);
      expect(await client.logoutAll()).toBe(1);
      expect(await client.isSignedIn()).toBe(false);
      expect(emitted).toEqual(['refreshed', 'refreshed', 'signedOut']);
      await restorePassword(at.host);
    });

    it('changes the password while other tabs refresh, and all of them stay signed in', async () => {
      const browser = browserAt(at);
      const tabs = Array.from({ length: 4 }, () => open(at, browser.openTab(), grace));
      await tabs[0]!.client.login('alice', PASSWORD);
      let password = PASSWORD;
      for (let round = 0; round < 5; round++) {
        at.host.clock.advance(TTL);
        const next = `another long password ${round}`;
        const [, ...answers] = await Promise.all([
          tabs[round % 4]!.client.changePassword(password, next),
          ...tabs.map(status),
        ]);
        password = next;
        expect(answers).toEqual([200, 200, 200, 200]);
      }
      await restorePassword(at.host);
    });

    it('refreshes an expired token before it logs out, so that the session ends', async () => {
      const browser = browserAt(at);
      const { client, emitted } = open(at, browser.openTab(), grace);
      await client.login('alice', PASSWORD);
      at.host.clock.advance(TTL);
      await client.logout();
      expect(emitted).toEqual(['refreshed', 'signedOut']);
      expect(await recorded(at, 'logout')).toBe(1);
      await client.logout();
    });

    it('reports signedOutElsewhere in every tab when the session was ended from another client', async () => {
      const browser = browserAt(at);
      const tabs = Array.from({ length: 2 }, () => open(at, browser.openTab(), grace));
      await tabs[0]!.client.login('alice', PASSWORD);
      expect(await askAll(tabs)).toEqual([200, 200]);
      const { access_token: other } = await at.host.login();
      await at.host.post('/auth/logout/all', other).expect(200);
      expect(await askAll(tabs)).toEqual([401, 401]);
      for (const { emitted } of tabs) expect(emitted).toEqual(['signedOutElsewhere']);
    });

    it('keeps the session while the server cannot be reached', async () => {
      const { proxy, url } = await TcpProxy.start(at.host.url);
      const browser = browserAt(at);
      const tab = open(at, browser.openTab(), grace, { baseUrl: url, accessTokenTtlSeconds: 900 });
      try {
        await tab.client.login('alice', PASSWORD);
        at.host.clock.advance(TTL - 1_000);
        await proxy.refuse();
        // The first request on a kept connection finds it broken, and cannot know what was sent.
        await expect(fetch(url)).rejects.toThrow();
        await expect(tab.client.sessions()).rejects.toMatchObject({ code: 'offline' });
        await proxy.heal();
        at.host.clock.advance(2_000);
        expect(await status(tab)).toBe(200);
        expect(tab.emitted).toEqual(['refreshed']);
      } finally {
        await proxy.stop();
      }
    });
  });
});

stories('the client and a redirect to another origin', {}, (at) => {
  let elsewhere: Server;
  const seen: (string | undefined)[] = [];

  beforeAll(async () => {
    elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      if (request.url === '/back') response.writeHead(307, { Location: `${at.host.url}/me` });
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => elsewhere.close(resolve)));

  it('does not send the token to that origin', async () => {
    const { port } = elsewhere.address() as AddressInfo;
    const moved = createServer((_, response) => {
      response.writeHead(307, { Location: `http://127.0.0.1:${port}/` }).end();
    });
    await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(moved.address() as AddressInfo).port}`;
    const client = new AuthClient({ baseUrl: at.host.url, origins: [origin] });
    await client.login('alice', PASSWORD);
    await client.fetch(`${origin}/`);
    expect(seen).toEqual([undefined]);
    await new Promise((resolve) => moved.close(resolve));
  });
});
