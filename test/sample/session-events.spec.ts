import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { BearerAuthGuard, OpenSockets, type AuthRequest } from 'nestjs-session-auth';
import { SessionEvents } from '../../apps/sample/src/session-events';
import { SessionEventsController } from '../../apps/sample/src/session-events.controller';
import { createDatabase, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';

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

describe('the stream of session events', () => {
  let database: TestDatabase;
  let app: TestApplication;
  let unregister: jest.Mock;
  let register: jest.SpyInstance;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({
      database,
      controllers: [SessionEventsController, UncheckedController],
      providers: [SessionEvents],
    });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(() => {
    unregister = jest.fn();
    register = jest.spyOn(app.nest.get(OpenSockets), 'register').mockReturnValue(unregister);
  });
  afterEach(() => jest.restoreAllMocks());

  /** Opens a stream. Returns the socket of the page and the socket of the server. */
  const open = async (path: string): Promise<[page: Socket, server: Socket]> => {
    const { access_token: token } = await app.login();
    const connected = once(app.nest.getHttpServer(), 'connection') as Promise<[Socket]>;
    const page = connect(Number(new URL(app.url).port), '127.0.0.1');
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
      const authenticate = app.authentication.authenticate.bind(app.authentication);
      let begin!: () => void;
      let proceed!: () => void;
      const isRunning = new Promise<void>((resolve) => (begin = resolve));
      const isClosed = new Promise<void>((resolve) => (proceed = resolve));
      jest.spyOn(app.authentication, 'authenticate').mockImplementation(async (...given) => {
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
      await settle();
      expect(register).not.toHaveBeenCalled();
    },
  );
});
