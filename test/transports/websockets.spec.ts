import { once } from 'node:events';
import { UseFilters, UseGuards, type Type } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
import {
  AuthErrorFilter,
  AuthService,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  rememberHandshake,
  OpenSockets,
  Public,
  RequireRecentLogin,
  socketAccessToken,
  type AuthModuleExtras,
  type AuthUser,
  type Handshake,
  type SessionInfo,
} from 'nestjs-session-auth';
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import { WebSocket } from 'ws';
import { createDatabase, type TestDatabase } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { Host } from '../support/host';

const MISSING = {
  status: 'error',
  code: 'credentials_missing',
  message: 'Authentication credentials were not provided.',
};
const INVALID = { status: 'error', code: 'access_token_invalid', message: 'Invalid or expired access token.' };
const AMBIGUOUS = { status: 'error', code: 'credentials_ambiguous', message: expect.any(String) as string };

@WebSocketGateway()
class ChatGateway implements OnGatewayConnection {
  constructor(private readonly auth: AuthService) {}

  handleConnection(client: object, request: Handshake): void {
    rememberHandshake(client, request);
  }

  @UseGuards(BearerAuthGuard)
  @SubscribeMessage('me')
  me(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { event: 'me', data: { username: user.username, sessionId: session.id } };
  }

  @RequireRecentLogin({ withinSeconds: 60 })
  @SubscribeMessage('recent')
  recent(@CurrentUser() user: AuthUser): object {
    return { event: 'recent', data: user.username };
  }

  @UseGuards(BearerAuthGuard)
  @RequireRecentLogin({ withinSeconds: 60 })
  @SubscribeMessage('recent twice')
  recentTwice(@CurrentUser() user: AuthUser): object {
    return { event: 'recent twice', data: user.username };
  }

  @Public()
  @SubscribeMessage('open')
  open(): object {
    return { event: 'open', data: {} };
  }

  @UseFilters(AuthErrorFilter)
  @SubscribeMessage('login')
  login(): Promise<object> {
    return this.auth.login({ username: 'alice', password: 'wrong' });
  }

  /** A host's mistake: nobody stands before it. */
  @SubscribeMessage('unguarded')
  unguarded(@CurrentSession() session: SessionInfo): object {
    return { event: 'unguarded', data: session.id };
  }
}

/** Lets in who has a live session, and stays open for as long as that lives. */
@WebSocketGateway({ path: '/live' })
class LiveGateway implements OnGatewayConnection {
  constructor(
    private readonly auth: AuthService,
    private readonly sockets: OpenSockets,
  ) {}

  async handleConnection(client: WebSocket, request: Handshake): Promise<void> {
    rememberHandshake(client, request);
    try {
      const { accessToken, client: info } = socketAccessToken(client);
      const principal = await this.auth.authenticate(accessToken, info);
      if (!principal) return client.close(4401);
      if (client.readyState !== client.OPEN) return;
      const unregister = this.sockets.register(principal, () => client.close(4401));
      client.on('close', unregister);
    } catch {
      client.close(4401);
    }
  }
}

/** What comes back to a message, as event and data. */
type Asks = (event: string, data?: unknown) => Promise<readonly [event: string, data: unknown]>;

let database: TestDatabase;
let host: Host;
const closing: (() => void)[] = [];

async function start(
  configure: (host: Host['app']) => unknown,
  gateway: Type = ChatGateway,
  auth: AuthModuleExtras = {},
): Promise<void> {
  database = await createDatabase('sqlite');
  host = await Host.start({ database, auth, providers: [gateway], configure: (app) => void configure(app) });
}
async function stop(): Promise<void> {
  await host.close();
  await database.drop();
}
afterEach(() => closing.splice(0).forEach((close) => close()));

describe('a gateway of ws behind the guard', () => {
  beforeAll(() => start((app) => app.useWebSocketAdapter(new WsAdapter(app))));
  afterAll(stop);
  beforeEach(() => host.reset());

  const connect = async (headers: Record<string, string | string[]> = {}, path = '/'): Promise<Asks> => {
    const socket = new WebSocket(host.url.replace('http', 'ws') + path, { headers: headers as never });
    closing.push(() => socket.close());
    await once(socket, 'open');
    return async (event, data) => {
      socket.send(JSON.stringify({ event, data }));
      const [message] = (await once(socket, 'message')) as [Buffer];
      const answer = JSON.parse(message.toString()) as { event: string; data: unknown };
      return [answer.event, answer.data];
    };
  };

  it.each([undefined, null, 'text', 1, {}, []])('knows user and session of a message with %j', async (data) => {
    const { access_token: token, session_id: sessionId } = await host.login();
    const ask = await connect({ Authorization: `Bearer ${token}` });
    expect(await ask('me', data)).toEqual(['me', { username: 'alice', sessionId }]);
  });

  it('asks the database at each message: one whose session has ended is refused', async () => {
    const { access_token: token } = await host.login();
    const ask = await connect({ Authorization: `Bearer ${token}` });
    expect((await ask('me'))[0]).toBe('me');
    await host.post('/auth/logout', token).expect(200);
    expect(await ask('me')).toEqual(['exception', INVALID]);
    expect(host.logs.filter((line) => line.includes('WsExceptionsHandler'))).toEqual([]);
  });

  it('is refused without a token, whatever the message or the address says', async () => {
    const { access_token: token } = await host.login();
    const authorization = `Bearer ${token}`;
    const ask = await connect({ Cookie: `access_token=${token}; Authorization=${authorization}` }, `/?token=${token}`);
    expect(await ask('me', { token, authorization, headers: { authorization } })).toEqual(['exception', MISSING]);
    const other = await connect({ Authorization: `Basic ${token}` });
    expect(await other('me')).toEqual(['exception', MISSING]);
  });

  it('is refused where the header was repeated', async () => {
    const { access_token: token } = await host.login();
    const ask = await connect({ Authorization: [`Bearer ${token}`, `Bearer ${token}`] });
    expect(await ask('me')).toEqual(['exception', AMBIGUOUS]);
  });

  it('answers that the database is away in its own way, and tells nothing of it', async () => {
    const { access_token: token } = await host.login();
    const ask = await connect({ Authorization: `Bearer ${token}` });
    await host.dataSource.query('ALTER TABLE auth_sessions RENAME TO elsewhere');
    const [event, data] = await ask('me');
    await host.dataSource.query('ALTER TABLE elsewhere RENAME TO auth_sessions');
    expect([event, data]).toEqual([
      'exception',
      { status: 'error', code: 'database_unavailable', message: 'The database does not answer.' },
    ]);
  });

  it.each(['recent', 'recent twice'])('guards %j, which requires a recent login, with one look-up', async (event) => {
    expect(await (await connect())(event)).toEqual(['exception', MISSING]);
    const { access_token: token } = await host.login();
    const ask = await connect({ Authorization: `Bearer ${token}` });
    const authenticate = jest.spyOn(host.auth, 'authenticate');
    for (const times of [1, 2]) {
      expect(await ask(event, {})).toEqual([event, 'alice']);
      expect(authenticate).toHaveBeenCalledTimes(times);
    }
    authenticate.mockRestore();
    host.clock.advance(2 * MINUTE);
    expect(await ask(event)).toMatchObject(['exception', { code: 'recent_login_required' }]);
  });

  it('lets public messages pass', async () => {
    const ask = await connect();
    expect(await ask('open')).toEqual(['open', {}]);
  });

  it('tells what the library refuses in a handler of the host, by the filter', async () => {
    const ask = await connect();
    const refusal = { status: 'error', code: 'invalid_credentials', message: 'Invalid credentials.' };
    expect(await ask('login')).toEqual(['exception', refusal]);
  });

  it('tells a handler without the guard nothing, though the socket was known a moment ago', async () => {
    const { access_token: token } = await host.login();
    const ask = await connect({ Authorization: `Bearer ${token}` });
    expect((await ask('me'))[0]).toBe('me');
    expect((await ask('unguarded'))[0]).toBe('exception');
  });
});

describe('a gateway of socket.io behind the guard', () => {
  beforeAll(() => start((app) => app.useWebSocketAdapter(new IoAdapter(app))));
  afterAll(stop);
  beforeEach(() => host.reset());

  const connect = async (options: Partial<ManagerOptions & SocketOptions>): Promise<Asks> => {
    const socket: Socket = io(host.url, { transports: ['websocket'], reconnection: false, ...options });
    closing.push(() => void socket.disconnect());
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    return async (event, data) => {
      const answer = new Promise<[string, unknown]>((resolve) =>
        socket.onAny((name: string, told: unknown) => resolve([name, told])),
      );
      socket.emit(event, data);
      return answer.finally(() => socket.offAny());
    };
  };

  it('finds the token in the auth of the handshake, which a browser can send', async () => {
    const { access_token: token, session_id: sessionId } = await host.login();
    for (const transports of [['websocket'], ['polling']]) {
      const ask = await connect({ auth: { token }, transports });
      expect(await ask('me')).toEqual(['me', { username: 'alice', sessionId }]);
    }
  });

  it('or in the header of the handshake, but not in both', async () => {
    const { access_token: token, session_id: sessionId } = await host.login();
    const extraHeaders = { Authorization: `Bearer ${token}` };
    expect(await (await connect({ extraHeaders }))('me')).toEqual(['me', { username: 'alice', sessionId }]);
    expect(await (await connect({ extraHeaders, auth: { token } }))('me')).toEqual(['exception', AMBIGUOUS]);
  });

  it('asks the database at each message', async () => {
    const { access_token: token } = await host.login();
    const ask = await connect({ auth: { token } });
    expect((await ask('me'))[0]).toBe('me');
    await host.post('/auth/logout', token).expect(200);
    expect(await ask('me', {})).toEqual(['exception', INVALID]);
  });

  it.each([
    ['nothing', {}],
    ['a token of another name', { auth: { access_token: 'x' } }],
    ['a token that is no text', { auth: { token: { toString: 'x' } } }],
    ['an empty token', { auth: { token: '' } }],
  ])('is refused with %s', async (_, options) => {
    expect(await (await connect(options))('me')).toEqual(['exception', MISSING]);
  });

  it('is refused with a token in the address or a cookie', async () => {
    const { access_token: token } = await host.login();
    const ask = await connect({ query: { token }, extraHeaders: { Cookie: `token=${token}` } });
    expect(await ask('me', { token })).toEqual(['exception', MISSING]);
  });
});

describe('a gateway of a host whose guard is global', () => {
  beforeAll(() => start((app) => app.useWebSocketAdapter(new WsAdapter(app)), ChatGateway, { globalGuard: true }));
  afterAll(stop);

  it('has it before every message, but for the public ones', async () => {
    const socket = new WebSocket(host.url.replace('http', 'ws'));
    closing.push(() => socket.close());
    await once(socket, 'open');
    for (const [event, told] of [
      ['unguarded', { event: 'exception', data: MISSING }],
      ['open', { event: 'open', data: {} }],
    ] as const) {
      socket.send(JSON.stringify({ event }));
      const [message] = (await once(socket, 'message')) as [Buffer];
      expect(JSON.parse(message.toString())).toEqual(told);
    }
  });
});

describe('a socket that is open for as long as its session lives', () => {
  beforeAll(() => start((app) => app.useWebSocketAdapter(new WsAdapter(app)), LiveGateway));
  afterAll(stop);
  beforeEach(() => host.reset());

  const connect = (headers: Record<string, string>): WebSocket => {
    const socket = new WebSocket(`${host.url.replace('http', 'ws')}/live`, { headers });
    closing.push(() => socket.close());
    return socket;
  };
  const end = async (socket: WebSocket): Promise<number> => ((await once(socket, 'close')) as [number])[0];

  it('is closed when the session ends, and no other is', async () => {
    const [login, other] = [await host.login(), await host.login()];
    const sockets = [login, other].map(({ access_token: token }) => connect({ Authorization: `Bearer ${token}` }));
    const registered = jest.spyOn(host.app.get(OpenSockets), 'register');
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    while (registered.mock.calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const ended = end(sockets[0]!);
    await host.post('/auth/logout', login.access_token).expect(200);
    expect(await ended).toBe(4401);
    expect(sockets[1]!.readyState).toBe(WebSocket.OPEN);
    registered.mockRestore();
  });

  it('is not registered when it closes while its token is checked', async () => {
    const { access_token: token } = await host.login();
    const registered = jest.spyOn(host.app.get(OpenSockets), 'register');
    const authenticate = host.auth.authenticate.bind(host.auth);
    const connected = once(host.app.getHttpServer(), 'connection') as Promise<[NodeJS.EventEmitter]>;
    let checked!: () => void;
    const isChecked = new Promise<void>((resolve) => (checked = resolve));
    const checking = jest.spyOn(host.auth, 'authenticate').mockImplementation(async (...given) => {
      const principal = await authenticate(...given);
      if (socket.readyState === WebSocket.CONNECTING) await once(socket, 'open');
      const closed = once((await connected)[0], 'close');
      socket.terminate();
      await closed;
      checked();
      return principal;
    });
    const socket = connect({ Authorization: `Bearer ${token}` });
    await isChecked;
    await new Promise((resolve) => setImmediate(resolve));
    expect(registered).not.toHaveBeenCalled();
    checking.mockRestore();
    registered.mockRestore();
  });

  it.each([{}, { Authorization: 'Bearer abc' }, { Authorization: 'Basic abc' }])(
    'is not opened with %j',
    async (headers) => {
      expect(await end(connect(headers as Record<string, string>))).toBe(4401);
    },
  );
});
