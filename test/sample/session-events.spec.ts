import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { BearerAuthGuard, OpenSockets, type AuthRequest } from 'nestjs-session-auth';
import { SessionEvents } from '../../apps/sample/src/session-events';
import { SessionEventsController } from '../../apps/sample/src/session-events.controller';
import { createDatabase, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

/** Subscribes whether the page is still there or not, as earlier versions of Nest do. */
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

describe('the stream of session events', () => {
  let database: TestDatabase;
  let host: Host;
  let unregister: jest.Mock;
  let register: jest.SpyInstance;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    host = await Host.start({
      database,
      controllers: [SessionEventsController, UncheckedController],
      providers: [SessionEvents],
    });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(() => {
    unregister = jest.fn();
    register = jest.spyOn(host.app.get(OpenSockets), 'register').mockReturnValue(unregister);
  });
  afterEach(() => jest.restoreAllMocks());

  /** Opens a page: the page's socket, and the server's. */
  const open = async (path = '/session-events'): Promise<[page: Socket, server: Socket]> => {
    const { access_token: token } = await host.login();
    const connected = once(host.app.getHttpServer(), 'connection') as Promise<[Socket]>;
    const page = connect(Number(new URL(host.url).port), '127.0.0.1');
    const [server] = await connected;
    page.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return [page, server];
  };
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('is open until the page closes the connection', async () => {
    const [page, server] = await open();
    const [chunk] = (await once(page, 'data')) as [Buffer];
    expect(String(chunk)).toContain('event: open');
    expect(register).toHaveBeenCalledTimes(1);
    expect(unregister).not.toHaveBeenCalled();
    page.destroy();
    await once(server, 'close');
    await turns();
    expect(unregister).toHaveBeenCalledTimes(1);
  });

  it('ends with its connection, whoever has subscribed', async () => {
    const [page, server] = await open('/session-events-unchecked');
    while (register.mock.calls.length === 0) await turns();
    page.destroy();
    await once(server, 'close');
    expect(unregister).toHaveBeenCalledTimes(1);
  });

  it.each(['/session-events', '/session-events-unchecked'])(
    'of %s is not opened if the page closes the connection while the guard runs',
    async (path) => {
      const authenticate = host.auth.authenticate.bind(host.auth);
      let begin!: () => void;
      let proceed!: () => void;
      const isRunning = new Promise<void>((resolve) => (begin = resolve));
      const isClosed = new Promise<void>((resolve) => (proceed = resolve));
      jest.spyOn(host.auth, 'authenticate').mockImplementation(async (...given) => {
        const principal = await authenticate(...given);
        begin();
        await isClosed;
        return principal;
      });
      const [page, server] = await open(path);
      await isRunning;
      const closed = once(server, 'close');
      page.destroy();
      await closed;
      proceed();
      await turns();
      expect(register).not.toHaveBeenCalled();
    },
  );
});
