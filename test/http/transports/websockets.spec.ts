import { once } from 'node:events';
import type { Type } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { MessageBody, SubscribeMessage } from '@nestjs/websockets';
import { OpenSockets } from 'nestjs-session-auth';
import { WebSocket } from 'ws';
import { blocksUnder } from '../../docs/code-blocks';
import { runBlock } from '../../docs/run-block';
import { bearer, describeApplication } from '../../support/environment';
import { ChatGateway, connectIo, gatewayOptions, openWs } from './chat';

describeApplication('guarded gateways with socket.io', gatewayOptions(ChatGateway, IoAdapter), ({ app }) => {
  it('the token is read from auth.token or the Authorization header of the handshake, and refused if it is in both', async () => {
    const { access_token: token, session_id: id } = await app.login();
    const extraHeaders = bearer(token);
    for (const options of [{ auth: { token } }, { auth: { token }, transports: ['polling'] }, { extraHeaders }]) {
      expect(await (await connectIo(app, options))('me')).toEqual(['alice', id]);
    }
    expect(await (await connectIo(app, { extraHeaders, auth: { token } }))('me')).toBe('credentials_ambiguous');
  });

  it('a token under another name, of another type, in the URL, a cookie or a message does not authenticate a socket.io message', async () => {
    const { access_token: token } = await app.login();
    for (const options of [
      ...[{}, { auth: { access_token: token } }, { auth: { token: { toString: token } } }, { auth: { token: '' } }],
      { query: { token }, extraHeaders: { Cookie: `token=${token}` } },
    ]) {
      expect(await (await connectIo(app, options))('me', { token })).toBe('credentials_missing');
    }
  });
});

// Blocks of the guide continue the block under the heading before.
const [chat, feed] = ['## Gateways', '## Open sockets'].map(
  (heading) => blocksUnder('docs/transports.md', heading)[0]!,
);
const { FeedGateway } = runBlock<{ FeedGateway: Type }>({ ...feed!, code: `${chat!.code}${feed!.code}` });
const handled: string[] = [];

/** The gateway of the guide, which accepts sockets with a valid session and closes each socket when its session ends. */
class LiveGateway extends FeedGateway {
  @SubscribeMessage('do')
  do(@MessageBody() data: string): void {
    handled.push(data);
  }
}

describeApplication('sockets that close with their session', gatewayOptions(LiveGateway), ({ app }) => {
  let register: jest.SpyInstance;
  beforeEach(() => void (register = jest.spyOn(app.nest.get(OpenSockets), 'register')));
  afterEach(() => jest.restoreAllMocks());

  const closeCodeOf = async (socket: WebSocket): Promise<number> => ((await once(socket, 'close')) as [number])[0];
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const registrations = async (count: number): Promise<void> => {
    while (register.mock.calls.length < count) await turn();
  };

  it('the end of a session closes the sockets of this session only', async () => {
    const [login, other] = [await app.login(), await app.login()];
    const [socket, kept] = [login, other].map(({ access_token: token }) => openWs(app, bearer(token)));
    await registrations(2);
    const ended = closeCodeOf(socket!);
    await app.post('/auth/logout', login.access_token).expect(200);
    expect(await ended).toBe(4401);
    expect(kept!.readyState).toBe(WebSocket.OPEN);
  });

  it('no message is handled before the token is checked, or after the session has ended', async () => {
    const { access_token: token } = await app.login();
    const message = (data: string): string => JSON.stringify({ event: 'do', data });
    const socket = openWs(app, bearer(token));
    await once(socket, 'open');
    await registrations(1);
    socket.send(message('during the session'));
    while (handled.length === 0) await turn();
    // A client that does not read the close frame keeps its connection.
    (socket as unknown as { _socket: { pause(): void } })._socket.pause();
    await app.post('/auth/logout', token).expect(200);
    socket.send(message('after the logout'));
    const unknown = openWs(app);
    unknown.once('open', () => unknown.send(message('without a token')));
    expect(await closeCodeOf(unknown)).toBe(4401);
    await app.login();
    expect(handled).toEqual(['during the session']);
    socket.terminate();
  });

  it('a socket that closes during authentication is not registered', async () => {
    const { access_token: token } = await app.login();
    const authenticate = app.auth.authenticate.bind(app.auth);
    const connected = once(app.nest.getHttpServer(), 'connection') as Promise<[NodeJS.EventEmitter]>;
    const checked = new Promise<void>((resolve) =>
      jest.spyOn(app.auth, 'authenticate').mockImplementation(async (...given) => {
        const principal = await authenticate(...given);
        if (socket.readyState === WebSocket.CONNECTING) await once(socket, 'open');
        const closed = once((await connected)[0], 'close');
        socket.terminate();
        await closed;
        resolve();
        return principal;
      }),
    );
    const socket = openWs(app, bearer(token));
    await checked;
    await turn();
    expect(register).not.toHaveBeenCalled();
  });
});
