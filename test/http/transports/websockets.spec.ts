import { once } from 'node:events';
import { type CanActivate, type ExecutionContext, UseFilters, UseGuards, type Type } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway, type OnGatewayConnection } from '@nestjs/websockets';
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
  type AuthUser,
  type Handshake,
  type SessionInfo,
} from 'nestjs-session-auth';
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import { WebSocket } from 'ws';
import { MINUTE } from '../../support/driven-clock';
import { describeApplication } from '../../support/environment';
import type { TestApplication } from '../../support/test-application';

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

  /** A handler that the application forgot to guard. */
  @SubscribeMessage('unguarded')
  unguarded(@CurrentSession() session: SessionInfo): object {
    return { event: 'unguarded', data: session.id };
  }
}

/** The sockets whose session is active. */
const admitted = new WeakSet<object>();

class AdmittedSockets implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return admitted.has(context.switchToWs().getClient<object>());
  }
}

const handled: string[] = [];

/** Accepts sockets with a valid session and closes each socket when its session ends, as docs/transports.md says. */
@UseGuards(AdmittedSockets)
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
      const unregister = this.sockets.register(principal, () => {
        admitted.delete(client);
        client.close(4401);
      });
      client.on('close', unregister);
      admitted.add(client);
    } catch {
      client.close(4401);
    }
  }

  @SubscribeMessage('do')
  do(@MessageBody() data: string): void {
    handled.push(data);
  }
}

/** Sends a message and returns the event and data of the response. */
type Send = (event: string, data?: unknown) => Promise<readonly [event: string, data: unknown]>;

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

const optionsOf = (gateway: Type, adapter: typeof WsAdapter | typeof IoAdapter = WsAdapter) => ({
  providers: [gateway],
  configure: (nest: TestApplication['nest']) => void nest.useWebSocketAdapter(new adapter(nest)),
});

let app: TestApplication;

const connectWs = async (headers: Record<string, string | string[]> = {}, path = '/'): Promise<Send> => {
  const socket = new WebSocket(app.url.replace('http', 'ws') + path, { headers: headers as never });
  closing.push(() => socket.close());
  await once(socket, 'open');
  return async (event, data) => {
    socket.send(JSON.stringify({ event, data }));
    const [message] = (await once(socket, 'message')) as [Buffer];
    const answer = JSON.parse(message.toString()) as { event: string; data: unknown };
    return [answer.event, answer.data];
  };
};

describeApplication('guarded gateways with ws', optionsOf(ChatGateway), (env) => {
  beforeEach(() => void ({ app } = env));

  it('each message causes a lookup, so that messages are refused after the session ends', async () => {
    const { access_token: token, session_id: sessionId } = await app.login();
    const ask = await connectWs({ Authorization: `Bearer ${token}` });
    for (const data of [undefined, null, 'text', 1, {}, []]) {
      expect([data, await ask('me', data)]).toEqual([data, ['me', { username: 'alice', sessionId }]]);
    }
    await app.post('/auth/logout', token).expect(200);
    expect(await ask('me')).toEqual(['exception', INVALID]);
    expect(app.logs.filter((line) => line.includes('WsExceptionsHandler'))).toEqual([]);
  });

  it('a token in a message, a cookie or the URL does not authenticate a socket', async () => {
    const { access_token: token } = await app.login();
    const authorization = `Bearer ${token}`;
    const Cookie = `access_token=${token}; Authorization=${authorization}`;
    const ask = await connectWs({ Cookie }, `/?token=${token}`);
    expect(await ask('me', { token, authorization, headers: { authorization } })).toEqual(['exception', MISSING]);
    const other = await connectWs({ Authorization: `Basic ${token}` });
    expect(await other('me')).toEqual(['exception', MISSING]);
    const twice = await connectWs({ Authorization: [authorization, authorization] });
    expect(await twice('me')).toEqual(['exception', AMBIGUOUS]);
  });

  it('the response to a message during a database outage is an error without details', async () => {
    const { access_token: token } = await app.login();
    const ask = await connectWs({ Authorization: `Bearer ${token}` });
    await app.dataSource.query('ALTER TABLE auth_sessions RENAME TO elsewhere');
    const [event, data] = await ask('me');
    await app.dataSource.query('ALTER TABLE elsewhere RENAME TO auth_sessions');
    expect([event, data]).toEqual([
      'exception',
      { status: 'error', code: 'database_unavailable', message: 'The database is unavailable.' },
    ]);
  });

  it.each(['recent', 'recent twice'])(
    'each message to the handler %j, which requires a recent login, causes one lookup',
    async (event) => {
      expect(await (await connectWs())(event)).toEqual(['exception', MISSING]);
      const { access_token: token } = await app.login();
      const ask = await connectWs({ Authorization: `Bearer ${token}` });
      const authenticate = jest.spyOn(app.authentication, 'authenticate');
      for (const times of [1, 2]) {
        expect(await ask(event, {})).toEqual([event, 'alice']);
        expect(authenticate).toHaveBeenCalledTimes(times);
      }
      authenticate.mockRestore();
      app.clock.advance(2 * MINUTE);
      expect(await ask(event)).toMatchObject(['exception', { code: 'recent_login_required' }]);
    },
  );

  it('the error filter converts an error of the library that a message handler of the application throws', async () => {
    const ask = await connectWs();
    const refusal = { status: 'error', code: 'invalid_credentials', message: 'Invalid credentials.' };
    expect(await ask('login')).toEqual(['exception', refusal]);
  });

  it('a handler without the guard receives no user, even if the socket was authenticated before', async () => {
    const { access_token: token } = await app.login();
    const ask = await connectWs({ Authorization: `Bearer ${token}` });
    expect((await ask('me'))[0]).toBe('me');
    expect((await ask('unguarded'))[0]).toBe('exception');
  });
});

describeApplication('guarded gateways with socket.io', optionsOf(ChatGateway, IoAdapter), (env) => {
  beforeEach(() => void ({ app } = env));

  const connect = async (options: Partial<ManagerOptions & SocketOptions>): Promise<Send> => {
    const socket: Socket = io(app.url, { transports: ['websocket'], reconnection: false, ...options });
    closing.push(() => void socket.disconnect());
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    return async (event, data) => {
      const answer = new Promise<[string, unknown]>((resolve) =>
        socket.onAny((name: string, response: unknown) => resolve([name, response])),
      );
      socket.emit(event, data);
      return answer.finally(() => socket.offAny());
    };
  };

  it('the token is read from auth.token of the handshake, which browsers can set', async () => {
    const { access_token: token, session_id: sessionId } = await app.login();
    for (const transports of [['websocket'], ['polling']]) {
      const ask = await connect({ auth: { token }, transports });
      expect(await ask('me')).toEqual(['me', { username: 'alice', sessionId }]);
    }
  });

  it('the token is read from the Authorization header of the handshake, and refused together with auth.token', async () => {
    const { access_token: token, session_id: sessionId } = await app.login();
    const extraHeaders = { Authorization: `Bearer ${token}` };
    expect(await (await connect({ extraHeaders }))('me')).toEqual(['me', { username: 'alice', sessionId }]);
    expect(await (await connect({ extraHeaders, auth: { token } }))('me')).toEqual(['exception', AMBIGUOUS]);
  });

  it.each([
    ['no token', {}],
    ['a token under another name', { auth: { access_token: 'x' } }],
    ['a token that is not a string', { auth: { token: { toString: 'x' } } }],
    ['an empty token', { auth: { token: '' } }],
  ])('a message is refused if the handshake has %s', async (_, options) => {
    expect(await (await connect(options))('me')).toEqual(['exception', MISSING]);
  });

  it('a token in the URL, a cookie or a message does not authenticate a socket.io message', async () => {
    const { access_token: token } = await app.login();
    const ask = await connect({ query: { token }, extraHeaders: { Cookie: `token=${token}` } });
    expect(await ask('me', { token })).toEqual(['exception', MISSING]);
  });
});

const guardedGlobally = { ...optionsOf(ChatGateway), auth: { globalGuard: true } };

describeApplication('gateways with a global guard', guardedGlobally, (env) => {
  it('the global guard runs before every message except public ones', async () => {
    ({ app } = env);
    const ask = await connectWs();
    expect(await ask('unguarded')).toEqual(['exception', MISSING]);
    expect(await ask('open')).toEqual(['open', {}]);
  });
});

describeApplication('sockets that close with their session', optionsOf(LiveGateway), (env) => {
  beforeEach(() => void ({ app } = env));

  const connect = (headers: Record<string, string>): WebSocket => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/live`, { headers });
    closing.push(() => socket.close());
    return socket;
  };
  const closeCodeOf = async (socket: WebSocket): Promise<number> => ((await once(socket, 'close')) as [number])[0];

  it('the end of a session closes the sockets of this session only', async () => {
    const [login, other] = [await app.login(), await app.login()];
    const sockets = [login, other].map(({ access_token: token }) => connect({ Authorization: `Bearer ${token}` }));
    const registered = jest.spyOn(app.nest.get(OpenSockets), 'register');
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    while (registered.mock.calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const ended = closeCodeOf(sockets[0]!);
    await app.post('/auth/logout', login.access_token).expect(200);
    expect(await ended).toBe(4401);
    expect(sockets[1]!.readyState).toBe(WebSocket.OPEN);
    registered.mockRestore();
  });

  it('no message is handled before the token is checked, or after the session has ended', async () => {
    const { access_token: token } = await app.login();
    const message = (data: string): string => JSON.stringify({ event: 'do', data });
    const registered = jest.spyOn(app.nest.get(OpenSockets), 'register');
    const socket = connect({ Authorization: `Bearer ${token}` });
    await once(socket, 'open');
    while (registered.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    registered.mockRestore();
    socket.send(message('during the session'));
    while (handled.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // A client that does not read the close frame keeps its connection.
    (socket as unknown as { _socket: { pause(): void } })._socket.pause();
    await app.post('/auth/logout', token).expect(200);
    socket.send(message('after the logout'));
    const unknown = connect({});
    unknown.once('open', () => unknown.send(message('without a token')));
    expect(await closeCodeOf(unknown)).toBe(4401);
    await app.login();
    expect(handled).toEqual(['during the session']);
    socket.terminate();
  });

  it('a socket that closes during authentication is not registered', async () => {
    const { access_token: token } = await app.login();
    const registered = jest.spyOn(app.nest.get(OpenSockets), 'register');
    const authenticate = app.auth.authenticate.bind(app.auth);
    const connected = once(app.nest.getHttpServer(), 'connection') as Promise<[NodeJS.EventEmitter]>;
    let checked!: () => void;
    const isChecked = new Promise<void>((resolve) => (checked = resolve));
    const checking = jest.spyOn(app.auth, 'authenticate').mockImplementation(async (...given) => {
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
});
