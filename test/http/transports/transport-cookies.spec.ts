import { once } from 'node:events';
import { UseGuards } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import {
  AuthService,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  rememberHandshake,
  socketAccessToken,
  TokenSource,
  type AuthUser,
  type Handshake,
  type PresentedToken,
  type SessionInfo,
  type TransportCall,
} from 'nestjs-session-auth';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { Browser, type Initiator } from '../../support/browser';
import { MINUTE } from '../../support/driven-clock';
import { applicationStarter } from '../../support/start-for-test';
import { PASSWORD, type TestApplication, type TestApplicationOptions } from '../../support/test-application';

const ACCESS = '__Host-auth_access';
const OWN = 'https://api.example.com';
const TRUSTED = 'https://app.example.com';
const NOBODY = ['nobody', null];

@WebSocketGateway()
class ChatGateway {
  handleConnection(client: object, request: Handshake): void {
    rememberHandshake(client, request);
  }

  @UseGuards(BearerAuthGuard)
  @SubscribeMessage('me')
  me(@CurrentUser() user: AuthUser): object {
    return { event: 'me', data: user.username };
  }

  @OptionalAuth()
  @SubscribeMessage('visitor')
  visitor(@CurrentUser() user: AuthUser | null, @CurrentSession() session: SessionInfo | null): object {
    return { event: 'visitor', data: [user?.username ?? 'nobody', session && session.id] };
  }
}

/** Authenticates a socket once, when it is opened. */
@WebSocketGateway({ path: '/live' })
class LiveGateway implements OnGatewayConnection {
  constructor(private readonly auth: AuthService) {}

  async handleConnection(client: WebSocket, request: Handshake): Promise<void> {
    rememberHandshake(client, request);
    try {
      const { accessToken, client: info } = socketAccessToken(client);
      const principal = await this.auth.authenticate(accessToken, info);
      client.send(principal ? 'welcome' : 'access_token_invalid');
    } catch (error) {
      client.send((error as { code: string }).code);
    }
  }
}

/** Finds a token in the data of a message. */
class MessageTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    const { token } = call.getArgByIndex<{ token?: string } | undefined>(1) ?? {};
    return token === undefined ? null : { accessToken: token };
  }
}

const auth = { cookies: { mode: 'optional' as const, trustedOrigins: [TRUSTED] } };
const startApplication = applicationStarter({
  auth,
  providers: [ChatGateway, LiveGateway],
  configure: (nest) => void nest.useWebSocketAdapter(new WsAdapter(nest)),
});

let app: TestApplication;
let browser: Browser;
const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

async function start(options: Partial<TestApplicationOptions> = {}, isOld = false): Promise<void> {
  app = await startApplication(options);
  browser = new Browser(app, OWN, isOld);
  const { accessToken } = await app.auth.login({ username: 'alice', password: PASSWORD });
  browser.put(ACCESS, accessToken);
}

/** Starts to open a socket with the given headers. */
function open(path: string, headers: Record<string, string>): WebSocket {
  const socket = new WebSocket(app.url.replace('http', 'ws') + path, { headers });
  closing.push(() => socket.close());
  return socket;
}

/** Opens a socket, and returns a function that sends events and returns the data or the error code. */
async function connect(headers: Record<string, string> = {}, event = 'me') {
  const socket = open('/', headers);
  await once(socket, 'open');
  return async (sent?: unknown): Promise<unknown> => {
    socket.send(JSON.stringify({ event, data: sent }));
    const [message] = (await once(socket, 'message')) as [Buffer];
    const { data } = JSON.parse(message.toString()) as { data: { code?: string } };
    return data.code ?? data;
  };
}

const HANDSHAKES: readonly (readonly [Initiator, string])[] = [
  [OWN, 'alice'],
  [TRUSTED, 'alice'],
  ['https://evil.test', 'cross_site_request'],
  ['https://blog.example.com', 'cross_site_request'],
  [`${TRUSTED}:8443`, 'cross_site_request'],
  ['null', 'cross_site_request'],
];

describe('WebSockets in cookie mode', () => {
  it.each([false, true])(
    'the cookie authenticates a WebSocket only if the handshake comes from an allowed origin, old browser: %s',
    async (old) => {
      await start({}, old);
      for (const [from, answer] of HANDSHAKES) {
        // A browser without support for `SameSite` sends the cookie from every site.
        const headers = { ...browser.handshakeFrom(from), Cookie: `${ACCESS}=${browser.jar[ACCESS]}` };
        expect([from, await (await connect(headers))()]).toEqual([from, answer]);
      }
    },
  );

  it('a handshake with a cookie requires an origin, and a Bearer header takes precedence and requires none', async () => {
    await start();
    const Cookie = `${ACCESS}=${browser.jar[ACCESS]}`;
    const { access_token: token } = await app.login('bob');
    for (const [headers, answer] of [
      [{ Cookie }, 'cross_site_request'],
      [{ Cookie, Authorization: `Bearer ${token}` }, 'bob'],
      [{ Cookie, Authorization: 'Bearer x' }, 'access_token_invalid'],
      [{ Host: 'api.example.com', Origin: OWN }, 'credentials_missing'],
      [{ ...browser.handshakeFrom(OWN), Cookie: `${Cookie}; ${Cookie}` }, 'credentials_ambiguous'],
    ] as const) {
      expect([headers, await (await connect(headers))()]).toEqual([headers, answer]);
    }
  });

  it('socketAccessToken authenticates a handshake by its cookie, but not without the option `cookies`', async () => {
    await start();
    const first = async (headers: Record<string, string>) => String((await once(open('/live', headers), 'message'))[0]);
    expect(await first(browser.handshakeFrom(OWN))).toBe('welcome');
    expect(await first(browser.handshakeFrom('https://blog.example.com'))).toBe('cross_site_request');
    expect(await first({ Host: 'api.example.com' })).toBe('credentials_missing');
    await start({ auth: {} });
    expect(await first(browser.handshakeFrom(OWN))).toBe('credentials_missing');
  });

  it.each(['websocket', 'polling'])('the cookie authenticates a socket.io handshake over %s', async (transport) => {
    await start({ providers: [ChatGateway], configure: (nest) => void nest.useWebSocketAdapter(new IoAdapter(nest)) });
    const ask = async (extraHeaders: Record<string, string>, auth: object = {}): Promise<unknown> => {
      const socket = io(app.url, { transports: [transport], extraHeaders, auth, forceNew: true });
      closing.push(() => socket.close());
      const answer = new Promise((resolve) => {
        socket.on('me', resolve);
        socket.on('exception', ({ code }: { code: string }) => resolve(code));
      });
      socket.emit('me');
      return answer;
    };
    const Cookie = `${ACCESS}=${browser.jar[ACCESS]}`;
    for (const [from, answer] of HANDSHAKES) {
      expect([from, await ask({ ...browser.handshakeFrom(from), Cookie }, { token: '' })]).toEqual([from, answer]);
    }
    const { access_token: token } = await app.login('bob');
    expect(await ask({ ...browser.handshakeFrom(OWN), Authorization: 'Basic abc' }, { token })).toBe('bob');
  });
});

describe('WebSocket messages with @OptionalAuth()', () => {
  it('a message handler receives the user of the handshake, or null, and refuses a token that has become invalid', async () => {
    await start();
    const { access_token: token, session_id: id } = await app.login();
    const ask = await connect({ Authorization: `Bearer ${token}` }, 'visitor');
    const nobody = await connect({}, 'visitor');
    const sent = [undefined, 'text', {}];
    for (const data of sent) expect([await ask(data), await nobody(data)]).toEqual([['alice', id], NOBODY]);
    await app.post('/auth/logout', token).expect(200);
    for (const data of sent) expect(await ask(data)).toBe('access_token_invalid');
  });

  it('a message handler receives null after the cookie of the handshake has become invalid', async () => {
    await start();
    const ask = await connect(browser.handshakeFrom(OWN), 'visitor');
    expect(await ask()).toMatchObject(['alice', expect.any(String)]);
    app.clock.advance(15 * MINUTE);
    for (const data of [undefined, 'text', {}]) expect(await ask(data)).toEqual(NOBODY);
    const Cookie = `${ACCESS}=nonsense`;
    const foreign = await connect({ ...browser.handshakeFrom('https://evil.test'), Cookie }, 'visitor');
    expect(await foreign()).toBe('cross_site_request');
  });

  it('a message with its own invalid token is refused even if the cookie of the handshake is valid', async () => {
    await start({ auth: { ...auth, tokenSource: MessageTokens } });
    const ask = await connect(browser.handshakeFrom(OWN), 'visitor');
    const { access_token: token, session_id: id } = await app.login('bob');
    expect(await ask({ token })).toEqual(['bob', id]);
    expect(await ask({ token: 'token' })).toBe('access_token_invalid');
    expect(await ask({})).toMatchObject(['alice', expect.any(String)]);
    app.clock.advance(15 * MINUTE);
    expect(await ask({ token })).toBe('access_token_invalid');
    expect(await ask({})).toEqual(NOBODY);
  });
});
