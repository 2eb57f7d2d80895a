import type { Type } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { type OnGatewayConnection, WebSocketGateway } from '@nestjs/websockets';
import { OpenSockets } from 'nestjs-session-auth';
import type { Socket } from 'socket.io';
import { io, type Socket as ClientSocket } from 'socket.io-client';
import { codeOf } from '../../docs/run-block';
import { applicationStarter } from '../../support/start-for-test';
import type { TestApplication, TestApplicationOptions } from '../../support/test-application';

const RECOVERY = { maxDisconnectionDuration: 30_000 };

const guide = codeOf('docs/transports.md')<{ NewsGateway: Type<OnGatewayConnection<Socket>> }>('### socket.io');

/** The gateway of the guide. */
@WebSocketGateway({ connectionStateRecovery: RECOVERY })
class NewsGateway extends guide.NewsGateway {
  readonly recovered: boolean[] = [];

  override handleConnection(socket: Socket): void {
    this.recovered.push(socket.recovered);
    super.handleConnection(socket);
    // Recovery needs an event that the client has received.
    socket.emit('news');
  }
}
@WebSocketGateway({ connectionStateRecovery: { ...RECOVERY, skipMiddlewares: false } })
class CheckedNewsGateway extends NewsGateway {}

const configure: TestApplicationOptions['configure'] = (nest) => void nest.useWebSocketAdapter(new IoAdapter(nest));

describe('the recovery of connections by socket.io', () => {
  const start = applicationStarter({ configure });
  let app: TestApplication;
  let client: ClientSocket;
  afterEach(() => void client.close());

  it.each([
    [false, true],
    [true, false],
  ])('a recovered connection stays open unless its session has ended: ended %s, open %s', async (hasEnded, isOpen) => {
    const sessionId = await connectTo(NewsGateway);
    const [recovered, disconnected] = [received('connect'), received('disconnect', 2)];
    client.io.engine.close();
    if (hasEnded) await endElsewhere(sessionId);
    await recovered;
    expect([client.recovered, app.nest.get(NewsGateway).recovered]).toEqual([true, [false, true]]);
    if (hasEnded) await disconnected;
    else await app.nest.get(OpenSockets).check();
    expect(client.connected).toBe(isOpen);
  });

  it('with `skipMiddlewares: false`, a connection whose session has ended is refused instead of recovered', async () => {
    const sessionId = await connectTo(CheckedNewsGateway);
    const refused = received('connect_error');
    client.io.engine.close();
    await endElsewhere(sessionId);
    await refused;
    expect(app.nest.get(CheckedNewsGateway).recovered).toEqual([false]);
  });

  it('with `skipMiddlewares: false`, a connection is not recovered with the token of another session', async () => {
    await connectTo(CheckedNewsGateway);
    client.auth = { token: (await app.login('bob')).access_token };
    const refused = received('connect_error');
    client.io.engine.close();
    await refused;
    expect(app.nest.get(CheckedNewsGateway).recovered).toEqual([false]);
  });

  /** Opens a connection of a new session, and returns the id of the session. */
  async function connectTo(gateway: Type): Promise<string> {
    app = await start({ providers: [gateway] });
    const { access_token, session_id } = await app.login();
    client = io(app.url, { auth: { token: access_token }, transports: ['websocket'], reconnectionDelay: 50 });
    await received('news');
    return session_id;
  }

  /** Ends a session as another instance does. */
  async function endElsewhere(sessionId: string): Promise<void> {
    await app.dataSource.query(`UPDATE auth_sessions SET state = 'ended' WHERE id = '${sessionId}'`);
  }

  /** Resolves when the client has received the event that often. */
  function received(event: string, times = 1): Promise<void> {
    return new Promise((resolve) => client.on(event, () => --times === 0 && resolve()));
  }
});
