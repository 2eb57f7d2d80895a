import type { INestApplication } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import type { Server } from 'socket.io';
import * as socketIo from 'socket.io-client';
import type { Socket } from 'socket.io-client';
import { codeOf } from '../docs/run-block';
import { describeHttp, restorePassword } from '../support/environment';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/test-application';
import { BOTH_TRANSPORTS, Page, TRANSPORTS } from './page';

const TTL = 15 * MINUTE;
const { NewsGateway } = codeOf('docs/transports.md')<{
  NewsGateway: new (...dependencies: unknown[]) => { afterInit(server: Server): void };
}>('### socket.io');

/** The gateway of the guide. Tests can make it refuse every socket. */
class Gateway extends NewsGateway {
  static isClosed = false;
  server!: Server;

  override afterInit(server: Server): void {
    this.server = server;
    server.use((_, next) => next(Gateway.isClosed ? new Error('closed') : undefined));
    super.afterInit(server);
  }
}

/**
 * Returns the module `socket.io-client` with the headers of a browser: a handshake contains the origin and, with
 * credentials, the cookies.
 */
const inBrowser = ({ browser }: Page): object => ({
  ...socketIo,
  io: (url: string, options: Partial<socketIo.ManagerOptions>) => {
    const headersOf = (): Record<string, string> => ({
      Origin: browser.origin,
      ...(options.withCredentials && browser.cookies ? { Cookie: browser.cookies } : {}),
    });
    // A reconnection reads the headers again.
    Object.defineProperty(options, 'extraHeaders', { enumerable: true, get: headersOf });
    return socketIo.io(url, Object.assign(options, { reconnectionDelay: 1 }));
  },
});

const happens = (socket: Socket, event: string): Promise<unknown> =>
  new Promise((resolve) => socket.once(event, resolve));
const isConnected = async (socket: Socket): Promise<void> => {
  if (!socket.connected) await happens(socket, 'connect');
};

const options = {
  auth: BOTH_TRANSPORTS,
  providers: [Gateway],
  configure: (app: INestApplication) => void app.useWebSocketAdapter(new IoAdapter(app)),
};

describe.each(TRANSPORTS)('socket.io-client with the transport %s', (transport) => {
  describeHttp('a socket.io-client socket', options, (env) => {
    let page: Page;
    const sockets: Socket[] = [];
    const open = (): Socket => {
      const modules = { 'socket.io-client': inBrowser(page) };
      // The delay in milliseconds before socket.io-client reopens a socket that the server has closed.
      const { socket } = page.load<{ socket: Socket }>('## socket.io-client', modules, { '1_000': '1' });
      sockets.push(socket);
      return socket;
    };

    beforeEach(async () => {
      page = new Page(env, transport);
      await page.client.login('alice', PASSWORD);
    });
    afterEach(() => {
      Gateway.isClosed = false;
      sockets.splice(0).forEach((socket) => socket.close());
    });

    it('a socket reopens after its connection broke, with new tokens if the previous ones have expired', async () => {
      const socket = open();
      await isConnected(socket);
      for (const refreshes of [1, 2]) {
        env.app.clock.advance(TTL);
        const broken = happens(socket, 'disconnect');
        socket.io.engine.close();
        await broken;
        await isConnected(socket);
        expect(await page.refreshes()).toBe(refreshes);
      }
    });

    it('a socket closes when its session ends, and the client reports the end although the page sends no request', async () => {
      const socket = open();
      await isConnected(socket);
      const ended = new Promise((resolve) => page.client.onSessionEnd(resolve));
      const { access_token: token } = await env.app.login();
      await env.app.post('/auth/logout/all', token).expect(200);
      expect(await ended).toMatchObject({ reason: 'signedOutElsewhere' });
      expect([socket.connected, socket.active]).toEqual([false, false]);
    });

    it.each(['a password change of its page', 'the server'])(
      'a socket reopens after %s has closed it',
      async (cause) => {
        const socket = open();
        await isConnected(socket);
        const [closed, opened] = [happens(socket, 'disconnect'), happens(socket, 'connect')];
        if (cause === 'the server') env.app.nest.get(Gateway).server.disconnectSockets(true);
        else await page.client.changePassword(PASSWORD, 'a new long password');
        expect(await closed).toBe('io server disconnect');
        await opened;
        expect(page.ends).toEqual([]);
        await restorePassword(env.app);
      },
    );

    it('a socket that is still refused after a refresh does not refresh again', async () => {
      const calls = [jest.spyOn(page.client, 'refresh'), jest.spyOn(page.client, 'accessToken')];
      Gateway.isClosed = true;
      const socket = open();
      for (const message of ['closed', 'closed']) {
        expect(await happens(socket, 'connect_error')).toMatchObject({ message });
      }
      const [refreshes, tokens] = calls.map((spy) => spy.mock.calls as { refused?: string }[][]);
      expect(refreshes!.length + tokens!.filter(([options]) => options?.refused).length).toBe(1);
      expect(await page.refreshes()).toBe(1);
    });

    it('a socket is refused once without a session, and opens after a login', async () => {
      await page.client.logout();
      const socket = open();
      const refusal = (await happens(socket, 'connect_error')) as Error;
      expect(refusal.message).toBe('credentials_missing');
      await new Promise((resolve) => setImmediate(resolve));
      expect(socket.active).toBe(false);
      await page.client.login('alice', PASSWORD);
      socket.connect();
      await isConnected(socket);
    });
  });
});
