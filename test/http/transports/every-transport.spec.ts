import { createParamDecorator, UseFilters } from '@nestjs/common';
import {
  AllowApiKey,
  ApiKeys,
  AuthError,
  AuthErrorFilter,
  CurrentPrincipal,
  CurrentSession,
  CurrentUser,
  type FormerToken,
  FormerTokens,
  OptionalAuth,
  Public,
  RequireRecentLogin,
  RequireRoles,
} from 'nestjs-session-auth';
import { MINUTE } from '../../support/driven-clock';
import { bearer, describeApplication } from '../../support/environment';
import { GUARD, returning } from '../../support/handlers';
import { mappedUsers, MEMBERS_WITH_ROLES, MemberWithRoles } from '../../support/mapped-users';
import { applicationStarter } from '../../support/start-for-test';
import type { TestApplication } from '../../support/test-application';
import { EveryTransport } from './every-transport';

const RECENT = RequireRecentLogin({ withinSeconds: 60 });
const Refusal = createParamDecorator(() => {
  throw new AuthError('session_required', 'This call requires a session.');
});
const own = returning(CurrentUser(), CurrentSession());
const principal = returning(CurrentPrincipal());

const HANDLERS = {
  me: [GUARD, own],
  caller: [GUARD, principal],
  visitor: [OptionalAuth(), own],
  recent: [RECENT],
  recentTwice: [GUARD, RECENT],
  admin: [RequireRoles('admin')],
  keys: [AllowApiKey('orders:read'), principal],
  open: [Public()],
  refusing: [Public(), returning(Refusal())],
  filtered: [Public(), UseFilters(AuthErrorFilter), returning(Refusal())],
  unguarded: [returning(CurrentUser())],
};
type Handler = keyof typeof HANDLERS;

/** Accepts `former.<user id>`. */
class IssuedTokens extends FormerTokens {
  verify(token: string): FormerToken | null {
    const [kind, userId] = token.split('.');
    return kind === 'former' ? { userId: userId!, issuedAt: new Date() } : null;
  }
}

const setRoles = ({ dataSource }: TestApplication, roles: string[] | null): Promise<unknown> =>
  dataSource.getRepository(MemberWithRoles).update({ email: 'alice' }, { roles: roles as never });
const principalOf = async (app: TestApplication) => app.principal((await app.login()).access_token);
const createKey = async (app: TestApplication) =>
  app.nest.get(ApiKeys).create(await principalOf(app), { name: 'export', scopes: ['orders:read'] });

/** Tokens by the name of what a call presents. */
const TOKENS = {
  'no token': async () => null,
  'an unknown token': async () => 'token',
  'a session': async (app) => (await app.login()).access_token,
  'an ended session': async (app) => {
    const { access_token: token } = await app.login();
    await app.post('/auth/logout', token).expect(200);
    return token;
  },
  'a session with an old login': async (app) => {
    const { access_token: token } = await app.login();
    app.clock.advance(2 * MINUTE);
    return token;
  },
  'a session of an administrator': async (app) => {
    await setRoles(app, ['admin']);
    return (await app.login()).access_token;
  },
  'an API key': async (app) => (await createKey(app)).key,
  'a revoked API key': async (app) => {
    const { key, id } = await createKey(app);
    await app.nest.get(ApiKeys).revoke((await principalOf(app)).userId, id);
    return key;
  },
  'a former token': async (app) => `former.${(await principalOf(app)).userId}`,
} satisfies Record<string, (app: TestApplication) => Promise<string | null>>;

const OWN = [expect.objectContaining({ email: 'alice' }), expect.objectContaining({ isCurrent: true })];
const USER = { userId: expect.any(Number), roles: [], realm: null };
const KEY = { id: expect.any(String), name: 'export', scopes: ['orders:read'] };

/** What each handler answers: its result (`gold` without injected values), or the code of the error (`error` without a code). */
const ANSWERS: readonly (readonly [handler: Handler, token: keyof typeof TOKENS, answer: unknown])[] = [
  ['me', 'a session', OWN],
  ['me', 'no token', 'credentials_missing'],
  ['me', 'an unknown token', 'access_token_invalid'],
  ['me', 'an ended session', 'access_token_invalid'],
  ['me', 'an API key', 'api_key_not_allowed'],
  ['me', 'a former token', 'session_required'],
  ['caller', 'a former token', [{ ...USER, formerToken: { issuedAt: expect.any(String) } }]],
  ['visitor', 'a session', OWN],
  ['visitor', 'no token', [null, null]],
  ['visitor', 'an unknown token', 'access_token_invalid'],
  ['visitor', 'an ended session', 'access_token_invalid'],
  ['recent', 'no token', 'credentials_missing'],
  ['recent', 'a session with an old login', 'recent_login_required'],
  ['recentTwice', 'a session with an old login', 'recent_login_required'],
  ['admin', 'no token', 'credentials_missing'],
  ['admin', 'a session', 'insufficient_role'],
  ['admin', 'a session of an administrator', 'gold'],
  ['keys', 'an API key', [{ ...USER, apiKey: KEY }]],
  ['keys', 'a revoked API key', 'access_token_invalid'],
  ['keys', 'no token', 'credentials_missing'],
  ['open', 'no token', 'gold'],
  ['unguarded', 'a session', 'error'],
];

/** Data of messages, none of which may change the answer. */
const PAYLOADS = [{}, '', 'text', 1, true, [], { roles: ['admin'], user: { roles: ['admin'] } }];

/** Expects the same answer of HTTP, GraphQL, WebSockets and microservices. */
const expectFromEach = (answers: unknown[], expected: unknown) => expect(answers).toEqual(Array(4).fill(expected));

const formerTokens = new IssuedTokens();
const everywhere = new EveryTransport(HANDLERS, mappedUsers(MEMBERS_WITH_ROLES, { formerTokens }, ['alice']));

describeApplication('handlers on every transport', everywhere.options, ({ app }) => {
  const ask = (...[name, token, data]: [name: Handler, token?: string | null, data?: unknown]) =>
    everywhere.ask(app, name, token ?? null, data);
  beforeEach(() => setRoles(app, null));
  afterAll(everywhere.close);

  it.each(ANSWERS)(
    'the handler %j answers a call with %s in the same way on each transport, whatever a message contains',
    async (name, presented, answer) => {
      const token = await TOKENS[presented](app);
      for (const data of PAYLOADS) expectFromEach(await ask(name, token, data), answer);
    },
  );

  it('a call without a token is refused with the documented error, which is not logged', async () => {
    await ask('me');
    const message = 'Authentication credentials were not provided.';
    const error = { status: 'error', code: 'credentials_missing', message };
    expect(await everywhere.send('me', {})).toEqual({ error });
    expect(app.logs.filter((line) => line.includes('ExceptionsHandler'))).toEqual([]);
  });

  it.each(['recent', 'recentTwice'] as const)(
    'each call of the handler %j, which requires a recent login, causes one lookup',
    async (name) => {
      const { access_token: token } = await app.login();
      const authenticate = jest.spyOn(app.authentication, 'authenticate');
      expectFromEach(await ask(name, token), 'gold');
      expect(authenticate).toHaveBeenCalledTimes(4);
      authenticate.mockRestore();
    },
  );

  it('a token in a message, in a cookie or with another scheme authenticates nobody', async () => {
    const { access_token: token } = await app.login();
    const data = { token, ...bearer(token), headers: bearer(token) };
    const Cookie = `access_token=${token}; Authorization=Bearer ${token}`;
    for (const headers of [{ Cookie }, { Authorization: `Basic ${token}` }])
      expectFromEach(await everywhere.ask(app, 'me', null, data, headers), 'credentials_missing');
  });

  it('during a database outage, each transport answers with an error without details', async () => {
    const { access_token: token } = await app.login();
    await app.dataSource.query('ALTER TABLE auth_sessions RENAME TO elsewhere');
    const answers = await ask('me', token);
    const message = await everywhere.send('me', { accessToken: token });
    await app.dataSource.query('ALTER TABLE elsewhere RENAME TO auth_sessions');
    const code = 'database_unavailable';
    // The body of a 503 over HTTP has no code.
    expect(answers).toEqual(['error', code, code, code]);
    expect(message).toEqual({
      error: { status: 'error', code, message: expect.not.stringContaining('auth_sessions') },
    });
  });

  it('an AuthError that a handler throws is converted', async () => {
    const code = 'session_required';
    expectFromEach(await ask('filtered'), code);
    // Gateways need the filter.
    expect(await ask('refusing')).toEqual([code, code, 'error', code]);
  });

  it('no other field of a GraphQL operation receives the caller of an API key', async () => {
    const query = '{ keys again: keys me unguarded }';
    const { body } = await app.post('/graphql', await TOKENS['an API key'](app), { query });
    const key = expect.stringContaining('"name":"export"') as string;
    expect(body.data).toEqual({ keys: key, again: key, me: null, unguarded: null });
  });

  it('a GraphQL query with 200 aliases verifies a former token once', async () => {
    const verify = jest.spyOn(formerTokens, 'verify');
    const query = `{ ${Array.from({ length: 200 }, (_, i) => `a${i}: caller`).join(' ')} }`;
    const { body } = await app.post('/graphql', await TOKENS['a former token'](app), { query });
    expect(Object.keys(body.data as object)).toHaveLength(200);
    expect(verify).toHaveBeenCalledTimes(1);
    verify.mockRestore();
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
