import { createParamDecorator, UseFilters } from '@nestjs/common';
import {
  AuthError,
  AuthErrorFilter,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  RequireRecentLogin,
} from 'nestjs-session-auth';
import { MINUTE } from '../../support/driven-clock';
import { describeApplication } from '../../support/environment';
import { GUARD, returning } from '../../support/handlers';
import { applicationStarter } from '../../support/start-for-test';
import { EveryTransport } from './every-transport';

const RECENT = RequireRecentLogin({ withinSeconds: 60 });
const Refusal = createParamDecorator(() => {
  throw new AuthError('session_required', 'This call requires a session.');
});
const own = returning(CurrentUser(), CurrentSession());

const HANDLERS = {
  me: [GUARD, own],
  visitor: [OptionalAuth(), own],
  recent: [RECENT],
  recentTwice: [GUARD, RECENT],
  open: [Public()],
  refusing: [Public(), returning(Refusal())],
  filtered: [Public(), UseFilters(AuthErrorFilter), returning(Refusal())],
  unguarded: [own],
};
/** Values of messages, with which a client can replace the expected object. */
const PAYLOADS = [{}, '', 'text', 1, true, []];

/** Expects the same answer of HTTP, GraphQL, WebSockets and microservices. */
const expectFromEach = (answers: unknown[], expected: unknown) => expect(answers).toEqual(Array(4).fill(expected));

const everywhere = new EveryTransport(HANDLERS);

describeApplication('handlers on every transport', everywhere.options, ({ app }) => {
  const ask = (...[name, token, data]: [name: keyof typeof HANDLERS, token?: string | null, data?: unknown]) =>
    everywhere.ask(app, name, token ?? null, data);
  afterAll(everywhere.close);

  it('a guarded handler receives the user and the session until the session ends, whatever a message contains', async () => {
    const { access_token: token, session_id: id } = await app.login();
    const expected = [expect.objectContaining({ username: 'alice' }), expect.objectContaining({ id })];
    for (const data of PAYLOADS) expectFromEach(await ask('me', token, data), expected);
    await app.post('/auth/logout', token).expect(200);
    for (const name of ['me', 'visitor'] as const) expectFromEach(await ask(name, token), 'access_token_invalid');
  });

  it('a call without a token is refused with the documented error, which is not logged', async () => {
    for (const data of PAYLOADS) expectFromEach(await ask('me', null, data), 'credentials_missing');
    const message = 'Authentication credentials were not provided.';
    const error = { status: 'error', code: 'credentials_missing', message };
    expect(await everywhere.messages.send('me', {})).toEqual({ error });
    expect(app.logs.filter((line) => line.includes('ExceptionsHandler'))).toEqual([]);
  });

  it('a handler with @OptionalAuth() receives the user of a valid token, and null without a token', async () => {
    const { access_token: token } = await app.login();
    for (const data of PAYLOADS) {
      expectFromEach(await ask('visitor', token, data), [
        expect.objectContaining({ username: 'alice' }),
        expect.anything(),
      ]);
      expectFromEach(await ask('visitor', null, data), [null, null]);
    }
    expectFromEach(await ask('visitor', 'token'), 'access_token_invalid');
  });

  it.each(['recent', 'recentTwice'] as const)(
    'each call of the handler %j, which requires a recent login, causes one lookup',
    async (name) => {
      expectFromEach(await ask(name), 'credentials_missing');
      const { access_token: token } = await app.login();
      const authenticate = jest.spyOn(app.authentication, 'authenticate');
      expectFromEach(await ask(name, token), 'gold');
      expect(authenticate).toHaveBeenCalledTimes(4);
      authenticate.mockRestore();
      app.clock.advance(2 * MINUTE);
      expectFromEach(await ask(name, token), 'recent_login_required');
    },
  );

  it('a public handler needs no token, and an AuthError that it throws is converted', async () => {
    expectFromEach(await ask('open'), 'gold');
    const code = 'session_required';
    expectFromEach(await ask('filtered'), code);
    // Gateways need the filter.
    expect(await ask('refusing')).toEqual([code, code, 'error', code]);
  });

  it('a handler without the guard receives no user', async () => {
    expectFromEach(await ask('unguarded', (await app.login()).access_token), 'error');
  });
});

const guardedGlobally = new EveryTransport(HANDLERS, { auth: { globalGuard: true } });

describeApplication('a global guard on every transport', guardedGlobally.options, ({ app }) => {
  afterAll(guardedGlobally.close);

  it('the global guard runs before every handler except public ones', async () => {
    expectFromEach(await guardedGlobally.ask(app, 'unguarded', null), 'credentials_missing');
    expectFromEach(await guardedGlobally.ask(app, 'open', null), 'gold');
  });
});

const start = applicationStarter();

it('messages of microservices have a token only by a token source, and a global guard only by inheritAppConfig', async () => {
  for (const [inheritAppConfig, unguarded] of [
    [true, 'credentials_missing'],
    [false, 'error'],
  ] as const) {
    const transports = new EveryTransport(
      HANDLERS,
      { auth: { globalGuard: true } },
      { inheritAppConfig, hasSource: false },
    );
    const app = await start(transports.options);
    const { access_token: token } = await app.login();
    const answers = [];
    for (const name of ['me', 'visitor', 'unguarded', 'open'])
      answers.push((await transports.ask(app, name, token)).at(-1));
    expect(answers).toEqual(['credentials_missing', [null, null], unguarded, 'gold']);
    await transports.close();
  }
});
