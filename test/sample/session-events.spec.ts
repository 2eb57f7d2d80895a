import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { OpenSockets } from 'nestjs-session-auth';
import { SessionEvents } from '../../apps/sample/src/session-events';
import { SessionEventsController } from '../../apps/sample/src/session-events.controller';
import { describeApplication } from '../support/environment';
import { pending } from '../support/tap';

const options = { controllers: [SessionEventsController], providers: [SessionEvents] };

describeApplication('the stream of session events', options, (env) => {
  let unregister: jest.Mock;
  let register: jest.SpyInstance;
  beforeEach(() => {
    unregister = jest.fn();
    register = jest.spyOn(env.app.nest.get(OpenSockets), 'register').mockReturnValue(unregister);
  });
  afterEach(() => jest.restoreAllMocks());

  /** Opens a stream. Returns the socket of the page and the socket of the server. */
  const open = async (): Promise<[page: Socket, server: Socket]> => {
    const { access_token: token } = await env.app.login();
    const connected = once(env.app.nest.getHttpServer(), 'connection') as Promise<[Socket]>;
    const page = connect(Number(new URL(env.app.url).port), '127.0.0.1');
    const [server] = await connected;
    page.write(`GET /session-events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return [page, server];
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('the stream of session events stays open until the page closes the connection', async () => {
    const [page, server] = await open();
    // The guard registers the stream too.
    while (register.mock.calls.length < 2) await settle();
    expect(unregister).not.toHaveBeenCalled();
    page.destroy();
    await once(server, 'close');
    await settle();
    expect(unregister.mock.calls.length).toBeGreaterThanOrEqual(2);
  });

  it('the stream of session events is not opened if the page closes the connection while the guard runs', async () => {
    const { authentication } = env.app;
    const authenticate = authentication.authenticate.bind(authentication);
    const [running, closing] = [pending(), pending()];
    jest.spyOn(authentication, 'authenticate').mockImplementation(async (...given) => {
      const principal = await authenticate(...given);
      running.resolve();
      await closing.promise;
      return principal;
    });
    const [page, server] = await open();
    await running.promise;
    page.destroy();
    await once(server, 'close');
    closing.resolve();
    await settle();
    expect(register).not.toHaveBeenCalled();
  });
});
