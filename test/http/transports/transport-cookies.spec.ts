import { once } from 'node:events';
import { UseGuards, type Type } from '@nestjs/common';
import { GraphQLModule, Mutation, Query, Resolver } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import {
  AuthService,
  BearerAuthGuard,
  CurrentUser,
  rememberHandshake,
  socketAccessToken,
  type AuthModuleOptions,
  type AuthUser,
  type Handshake,
} from 'nestjs-session-auth';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { Browser, type Initiator } from '../../support/browser';
import { createDatabase, type TestDatabase } from '../../support/databases';
import { TestApplication, PASSWORD, type TestApplicationOptions } from '../../support/test-application';

const CREDENTIALS = { username: 'alice', password: PASSWORD };
const ACCESS = '__Host-auth_access';
const OWN = 'https://api.example.com';
const TRUSTED = 'https://app.example.com';
const COOKIES: AuthModuleOptions = { cookies: { mode: 'optional', trustedOrigins: [TRUSTED] } };

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

let changes = 0;

@Resolver()
@UseGuards(BearerAuthGuard)
class UserResolver {
  @Query(() => String)
  who(@CurrentUser() user: AuthUser): string {
    return user.username;
  }

  @Mutation(() => String)
  change(@CurrentUser() user: AuthUser): string {
    changes++;
    return user.username;
  }
}

let database: TestDatabase;
let app: TestApplication;
let browser: Browser;
const closing: (() => void)[] = [];

async function start(options: Omit<TestApplicationOptions, 'database'>): Promise<void> {
  database = await createDatabase('sqlite');
  app = await TestApplication.start({ database, auth: COOKIES, ...options });
  browser = new Browser(app);
  await browser.call('/auth/login', CREDENTIALS);
}
afterEach(async () => {
  closing.splice(0).forEach((close) => close());
  await app.close();
  await database.drop();
});

/** Opens a socket with the given headers, sends the given event, if any, and returns the first message. */
async function firstMessage(path: string, headers: Record<string, string>, event?: string): Promise<unknown> {
  const socket = new WebSocket(app.url.replace('http', 'ws') + path, { headers });
  closing.push(() => socket.close());
  const message = once(socket, 'message');
  await once(socket, 'open');
  if (event !== undefined) socket.send(JSON.stringify({ event }));
  const text = String((await message)[0]);
  if (event === undefined) return text;
  const { data } = JSON.parse(text) as { data: { code?: string } };
  return data.code ?? data;
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
  const startWs = (gateway: Type, auth = COOKIES): Promise<void> =>
    start({ auth, providers: [gateway], configure: (app) => void app.useWebSocketAdapter(new WsAdapter(app)) });

  it.each([false, true])(
    'the cookie authenticates a WebSocket only if the handshake comes from an allowed origin, old browser: %s',
    async (old) => {
      await startWs(ChatGateway);
      const { jar } = browser;
      browser = new Browser(app, OWN, old);
      browser.put(ACCESS, jar[ACCESS]!);
      for (const [from, answer] of HANDSHAKES) {
        // A browser without support for `SameSite` sends the cookie from every site.
        const headers = { ...browser.handshakeFrom(from), Cookie: `${ACCESS}=${jar[ACCESS]}` };
        expect([from, await firstMessage('/', headers, 'me')]).toEqual([from, answer]);
      }
    },
  );

  it('a handshake with a cookie requires an origin, and a Bearer header takes precedence and requires none', async () => {
    await startWs(ChatGateway);
    const Cookie = `${ACCESS}=${browser.jar[ACCESS]}`;
    const { access_token: token } = await app.login('bob');
    expect(await firstMessage('/', { Cookie }, 'me')).toBe('cross_site_request');
    expect(await firstMessage('/', { Cookie, Authorization: `Bearer ${token}` }, 'me')).toBe('bob');
    expect(await firstMessage('/', { Cookie, Authorization: 'Bearer x' }, 'me')).toBe('access_token_invalid');
    expect(await firstMessage('/', { Host: 'api.example.com', Origin: OWN }, 'me')).toBe('credentials_missing');
    const twice = { ...browser.handshakeFrom(OWN), Cookie: `${Cookie}; ${Cookie}` };
    expect(await firstMessage('/', twice, 'me')).toBe('credentials_ambiguous');
  });

  it('socketAccessToken authenticates a handshake by its cookie', async () => {
    await startWs(LiveGateway);
    expect(await firstMessage('/live', browser.handshakeFrom(OWN))).toBe('welcome');
    expect(await firstMessage('/live', browser.handshakeFrom('https://blog.example.com'))).toBe('cross_site_request');
    expect(await firstMessage('/live', { Host: 'api.example.com' })).toBe('credentials_missing');
  });

  it('a cookie does not authenticate a handshake without the cookies option', async () => {
    await startWs(LiveGateway);
    const headers = browser.handshakeFrom(OWN);
    await app.close();
    await database.drop();
    await start({
      auth: {},
      providers: [LiveGateway],
      configure: (app) => void app.useWebSocketAdapter(new WsAdapter(app)),
    });
    expect(await firstMessage('/live', headers)).toBe('credentials_missing');
  });

  it.each(['websocket', 'polling'])('the cookie authenticates a socket.io handshake over %s', async (transport) => {
    await start({
      providers: [ChatGateway],
      configure: (app) => void app.useWebSocketAdapter(new IoAdapter(app)),
    });
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
      expect([from, await ask({ ...browser.handshakeFrom(from), Cookie })]).toEqual([from, answer]);
    }
    const { access_token: token } = await app.login('bob');
    expect(await ask({ ...browser.handshakeFrom(OWN), Authorization: 'Basic abc' }, { token })).toBe('bob');
  });
});

describe('GraphQL operations in cookie mode', () => {
  beforeEach(() => {
    // Jest does not support the way in which Mercurius imports its cache.
    const options = { driver: MercuriusDriver, autoSchemaFile: true, cache: false as never };
    return start({
      platform: 'fastify',
      imports: [GraphQLModule.forRoot<MercuriusDriverConfig>(options)],
      providers: [UserResolver],
    });
  });

  it('the cookie authenticates an operation, and its response is excluded from shared caches', async () => {
    const query = await browser.send('/graphql?query={who}');
    expect([query.body, query.headers['cache-control']]).toEqual([{ data: { who: 'alice' } }, 'private']);
    const mutation = await browser.send('/graphql', { method: 'POST', body: { query: 'mutation { change }' } });
    expect(mutation.body).toEqual({ data: { change: 'alice' } });
  });

  it('an operation from another origin is refused unless the origin is trusted or the operation is a query', async () => {
    const answerTo = async (from: Initiator): Promise<unknown> => {
      const { body } = await browser.send('/graphql', { method: 'POST', from, body: { query: 'mutation { change }' } });
      const { data, errors } = body as { data: { change: string } | null; errors?: { message: string }[] };
      return data?.change ?? errors![0]!.message;
    };
    expect(await answerTo(TRUSTED)).toBe('alice');
    expect(await answerTo('https://blog.example.com')).toBe('The request does not come from a trusted origin.');
    expect(await answerTo('https://evil.test')).toBe('Authentication credentials were not provided.');
    const read = await browser.send('/graphql?query={who}', { from: 'https://blog.example.com' });
    expect(read.body).toEqual({ data: { who: 'alice' } });
    const changing = await browser.send('/graphql?query=mutation{change}');
    expect((changing.body as { data: unknown }).data ?? null).toBeNull();
  });

  it('a mutation of a request with a method that counts as safe passes the cross-site check too', async () => {
    changes = 0;
    const path = '/graphql?query=mutation{change}';
    await browser.send(path, { method: 'HEAD' as 'GET', from: 'https://blog.example.com' });
    expect(changes).toBe(0);
    await browser.send(path, { method: 'HEAD' as 'GET' });
    expect(changes).toBe(1);
  });
});
