import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { OpenSockets } from 'nestjs-session-auth';
import { SessionEvents } from '../../apps/sample/src/session-events';
import { SessionEventsController } from '../../apps/sample/src/session-events.controller';
import { describeApplication } from '../support/environment';
import { pending } from '../support/tap';

const options = { controllers: [SessionEventsController], providers: [SessionEvents] };
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describeApplication('the stream of session events', options, ({ app }) => {
  const open = async (): Promise<[page: Socket, server: Socket]> => {
    const { access_token: token } = await app.login();
    const connected = once(app.nest.getHttpServer(), 'connection') as Promise<[Socket]>;
    const page = connect(Number(new URL(app.url).port), '127.0.0.1');
    const [server] = await connected;
    page.write(`GET /session-events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return [page, server];
  };
  afterEach(() => jest.restoreAllMocks());

  it('the stream stays open until its page closes, and is not opened if the page closes while the guard runs', async () => {
    const unregister = jest.fn();
    const register = jest.spyOn(app.nest.get(OpenSockets), 'register').mockReturnValue(unregister);
    const [first] = await open();
    // The guard registers the stream too.
    while (register.mock.calls.length < 2) await settle();
    expect(unregister).not.toHaveBeenCalled();
    first.destroy();
    while (unregister.mock.calls.length < 2) await settle();

    const { authentication } = app;
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
    expect(register).toHaveBeenCalledTimes(2);
  });
});
