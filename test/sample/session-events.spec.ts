import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { BearerAuthGuard, OpenSockets, type AuthRequest } from 'nestjs-session-auth';
import { SessionEvents } from '../../apps/sample/src/session-events';
import { SessionEventsController } from '../../apps/sample/src/session-events.controller';
import { describeApplication } from '../support/environment';
import { pending } from '../support/tap';

/** Subscribes even if the page has closed the connection, as earlier versions of Nest do. */
@Controller('session-events-unchecked')
@UseGuards(BearerAuthGuard)
class UncheckedController {
  constructor(private readonly events: SessionEvents) {}

  @Get()
  open(@Req() request: AuthRequest, @Res() response: Response): void {
    const stream = new SessionEventsController(this.events).open(request, response);
    stream.subscribe({ complete: () => response.end() });
  }
}

const options = { controllers: [SessionEventsController, UncheckedController], providers: [SessionEvents] };

describeApplication('the stream of session events', options, (env) => {
  let unregister: jest.Mock;
  let register: jest.SpyInstance;
  beforeEach(() => {
    unregister = jest.fn();
    register = jest.spyOn(env.app.nest.get(OpenSockets), 'register').mockReturnValue(unregister);
  });
  afterEach(() => jest.restoreAllMocks());

  /** Opens a stream. Returns the socket of the page and the socket of the server. */
  const open = async (path: string): Promise<[page: Socket, server: Socket]> => {
    const { access_token: token } = await env.app.login();
    const connected = once(env.app.nest.getHttpServer(), 'connection') as Promise<[Socket]>;
    const page = connect(Number(new URL(env.app.url).port), '127.0.0.1');
    const [server] = await connected;
    page.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return [page, server];
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it.each([
    ['/session-events', 2], // The guard registers the stream too.
    ['/session-events-unchecked', 1],
  ])('the stream of %s stays open until the page closes the connection', async (path, registrations) => {
    const [page, server] = await open(path);
    while (register.mock.calls.length < registrations) await settle();
    expect(unregister).not.toHaveBeenCalled();
    page.destroy();
    await once(server, 'close');
    await settle();
    expect(unregister.mock.calls.length).toBeGreaterThanOrEqual(registrations);
  });

  it.each(['/session-events', '/session-events-unchecked'])(
    'the stream of %s is not opened if the page closes the connection while the guard runs',
    async (path) => {
      const { authentication } = env.app;
      const authenticate = authentication.authenticate.bind(authentication);
      const [running, closing] = [pending(), pending()];
      jest.spyOn(authentication, 'authenticate').mockImplementation(async (...given) => {
        const principal = await authenticate(...given);
        running.resolve();
        await closing.promise;
        return principal;
      });
      const [page, server] = await open(path);
      await running.promise;
      const closed = once(server, 'close');
      page.destroy();
      await closed;
      closing.resolve();
      await settle();
      expect(register).not.toHaveBeenCalled();
    },
  );
});
