import { UseGuards } from '@nestjs/common';
import {
  Args,
  Context,
  Field,
  Mutation,
  ObjectType,
  Query,
  ResolveField,
  Resolver,
  Subscription,
} from '@nestjs/graphql';
import type { MercuriusDriverConfig } from '@nestjs/mercurius';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  AuthService,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  RequireRecentLogin,
  type AuthUser,
  type SessionInfo,
} from 'nestjs-session-auth';
import { codeOf } from '../../docs/run-block';
import { ACCESS, Browser, type Initiator } from '../../support/browser';
import { MINUTE } from '../../support/driven-clock';
import { bearer, describeApplication, sendRaw } from '../../support/environment';
import { apollo, GraphqlConnection, mercurius } from '../../support/graphql-connection';
import { tokensOfArgument } from '../../support/header-tokens';
import { startForTest } from '../../support/start-for-test';
import { PASSWORD, type TestApplication } from '../../support/test-application';

const OWN = 'https://api.example.com';
const SIBLING = 'https://blog.example.com';
const TRUSTED = 'https://app.example.com';

@ObjectType()
class Profile {
  @Field()
  username!: string;
}

/** By default, Nest does not run guards for field resolvers. */
@Resolver(() => Profile)
class ProfileResolver {
  @ResolveField(() => String)
  session(@CurrentSession() session: SessionInfo): string {
    return session.id;
  }

  @ResolveField(() => String)
  viewer(@CurrentUser() user: AuthUser | null): string {
    return user?.username ?? 'nobody';
  }
}

let changes = 0;

@Resolver()
@UseGuards(BearerAuthGuard)
class GuardedResolver {
  constructor(private readonly auth: AuthService) {}

  @Query(() => Profile)
  me(@CurrentUser() { username }: AuthUser): Profile {
    return { username };
  }

  @Public()
  @Mutation(() => Boolean)
  async signIn(): Promise<boolean> {
    await this.auth.login({ username: 'alice', password: 'wrong' });
    return true;
  }

  @RequireRecentLogin({ withinSeconds: 60 })
  @Query(() => String)
  secret(): string {
    return 'the secret';
  }

  @Mutation(() => String)
  change(@CurrentUser() user: AuthUser): string {
    changes++;
    return user.username;
  }

  @Subscription(() => String, { resolve: (news: string) => news })
  async *news(@CurrentUser() user: AuthUser): AsyncGenerator<string> {
    yield await Promise.resolve(`for ${user.username}`);
  }
}

/** A resolver whose only guards come from its decorators. */
@Resolver()
class DecoratedResolver {
  @OptionalAuth()
  @Query(() => Profile)
  visitor(@CurrentUser() user: AuthUser | null): Profile {
    return { username: user?.username ?? 'nobody' };
  }

  @OptionalAuth()
  @Query(() => String)
  requestUser(@Context() { req }: { req: { user?: AuthUser } }): string {
    return req.user?.username ?? 'nobody';
  }

  /** A resolver that the application forgot to guard. */
  @Query(() => String)
  unguarded(@CurrentUser() user: AuthUser): string {
    return user.username;
  }
}

const MISSING = ['Authentication credentials were not provided.'];
const INVALID = ['Invalid or expired access token.'];

interface Answer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: object }[];
}
const read = ({ data, errors }: Answer): unknown => errors?.map(({ message }) => message) ?? data;

const optionsWith = (config: Partial<MercuriusDriverConfig> = {}) => ({
  platform: 'fastify' as const,
  auth: { cookies: { mode: 'optional' as const, trustedOrigins: [TRUSTED] } },
  imports: [mercurius(config)],
  providers: [ProfileResolver, GuardedResolver, DecoratedResolver],
});

const ask = async (app: TestApplication, query: string, token?: string): Promise<Answer> =>
  (
    await app.http
      .post('/graphql')
      .set(token === undefined ? {} : bearer(token))
      .send({ query })
  ).body as Answer;

/** Opens a connection for subscriptions with the cookies of the page. */
const connectTo = (app: TestApplication, browser: Browser, from: Initiator = OWN, payload: object = {}) => {
  const headers = { ...browser.handshakeFrom(from), Cookie: `${ACCESS}=${browser.jar[ACCESS]}` };
  return GraphqlConnection.open(app, headers, payload);
};

/** Contexts through which applications pass the request to resolvers. */
const CONTEXTS: Readonly<Record<string, Partial<MercuriusDriverConfig>>> = {
  "the driver's own context": {},
  'a context of request and reply': { context: (request: unknown, reply: unknown) => ({ request, reply }) },
  'a context of req and res': {
    context: (req: unknown, res: unknown) => ({ req, res, auth: "the application's own" }),
  },
};

for (const [title, config] of Object.entries(CONTEXTS)) {
  describeApplication(`GraphQL resolvers with ${title}`, optionsWith(config), ({ app }) => {
    it('a resolver and its field resolvers receive the user and the session', async () => {
      const { access_token: token, session_id: session } = await app.login();
      const { data } = await ask(app, '{ me { username session viewer } again: me { session } }', token);
      expect(data).toEqual({ me: { username: 'alice', session, viewer: 'alice' }, again: { session } });
    });

    it('the cookie authenticates an operation, and its response is excluded from shared caches', async () => {
      const browser = new Browser(app);
      await browser.logIn();
      const { body, headers } = await browser.send('/graphql?query={me{username}}');
      expect([body, headers['cache-control']]).toEqual([{ data: { me: { username: 'alice' } } }, 'private']);
    });
  });
}

const shared = { version: 1 };
const SHARED: Readonly<Record<string, Partial<MercuriusDriverConfig>>> = {
  'a context object in the options': { context: { ...shared } as never },
  'a function that returns the same context each time': { context: () => shared },
};

for (const [title, config] of Object.entries(SHARED)) {
  describeApplication(`GraphQL with ${title}`, optionsWith(config), ({ app }) => {
    it('each request acts as its own user, although the driver keeps the first request in the context', async () => {
      for (const username of ['alice', 'bob']) {
        const { access_token } = await app.login(username);
        const answer = await ask(app, '{ me { username viewer } }', access_token);
        expect(answer.data).toEqual({ me: { username, viewer: username } });
      }
      expect(read(await ask(app, '{ me { username } }'))).toEqual(MISSING);
      expect(read(await ask(app, '{ visitor { username } }'))).toEqual({ visitor: { username: 'nobody' } });
    });
  });
}

describeApplication('GraphQL', optionsWith({ subscription: true }), ({ app }) => {
  let token: string;
  let session: string;
  let browser: Browser;

  beforeEach(async () => {
    ({ access_token: token, session_id: session } = await app.login());
    browser = new Browser(app, OWN, true);
    await browser.logIn();
  });

  it('the extensions of an error contain the code for GraphQL and the code of the library', async () => {
    const extensionsOf = async (query: string, token?: string) =>
      (await ask(app, query, token)).errors?.[0]?.extensions;
    const missing = { code: 'UNAUTHENTICATED', authCode: 'credentials_missing' };
    expect(await extensionsOf('{ me { username } }')).toEqual(missing);
    const unknown = { code: 'UNAUTHENTICATED', authCode: 'access_token_invalid' };
    expect(await extensionsOf('{ visitor { username } }', 'token')).toEqual(unknown);
    expect(await extensionsOf('mutation { signIn }')).toEqual({ code: 'BAD_REQUEST', authCode: 'invalid_credentials' });
    app.clock.advance(2 * MINUTE);
    const refused = { code: 'FORBIDDEN', authCode: 'recent_login_required' };
    expect(await extensionsOf('{ secret }', token)).toEqual(refused);
  });

  it('all queries of an operation receive the same user, even if the cookie expires in between', async () => {
    const query = '/graphql?query={visitor{username}again:visitor{username session}}';
    const principal = await app.auth.authenticate(token);
    const answers = [principal, null];
    const authenticate = jest.spyOn(app.authentication, 'authenticate');
    authenticate.mockImplementation(() => Promise.resolve(answers.shift() ?? null));
    const again = { username: 'alice', session };
    expect(read((await browser.send(query)).body as Answer)).toEqual({ visitor: { username: 'alice' }, again });
    expect(authenticate).toHaveBeenCalledTimes(2);
    authenticate.mockRestore();
  });

  it('@OptionalAuth() does not open guarded queries of the same operation', async () => {
    for (const query of ['{ visitor { username } secret }', '{ secret visitor { username } }']) {
      expect(read(await ask(app, query))).toEqual(MISSING);
      const data = { secret: 'the secret', visitor: { username: 'alice' } };
      expect(read(await ask(app, query, token))).toEqual(data);
    }
  });

  it('an operation from another origin is refused unless the origin is trusted or the operation is a query', async () => {
    const modern = new Browser(app);
    modern.put(ACCESS, browser.jar[ACCESS]!);
    const answerTo = async (from: Initiator): Promise<unknown> => {
      const { body } = await modern.send('/graphql', { method: 'POST', from, body: { query: 'mutation { change }' } });
      return read(body as Answer);
    };
    for (const from of [OWN, TRUSTED] as const) expect(await answerTo(from)).toEqual({ change: 'alice' });
    expect(await answerTo(SIBLING)).toEqual(['The request does not come from a trusted origin.']);
    expect(await answerTo('https://evil.test')).toEqual(MISSING);
    const { body } = await modern.send('/graphql?query={me{username}}', { from: SIBLING });
    expect(body).toEqual({ data: { me: { username: 'alice' } } });
    const changing = await modern.send('/graphql?query=mutation{change}');
    expect((changing.body as { data?: unknown }).data ?? null).toBeNull();
  });

  it('a mutation is subject to the cross-site check even in a request whose method counts as safe', async () => {
    changes = 0;
    const path = '/graphql?query=mutation{change}';
    await browser.send(path, { method: 'HEAD' as 'GET', from: SIBLING });
    expect(changes).toBe(0);
    await browser.send(path, { method: 'HEAD' as 'GET', headers: { Origin: OWN } });
    expect(changes).toBe(1);
  });

  /** Returns the news that a page receives. The page can set the payload of `connection_init`, but no headers. */
  async function newsOf(from: Initiator, payload: object = {}): Promise<string | undefined> {
    const connection = await connectTo(app, browser, from, payload);
    const { payload: answer } = await connection.subscribe('subscription { news }');
    connection.close();
    return Array.isArray(answer) ? (answer[0] as Error).message : (answer as { data: { news: string } }).data.news;
  }

  it('a subscription of a page on another origin is refused, whatever headers its first message claims', async () => {
    expect(await newsOf(OWN)).toBe('for alice');
    for (const from of [SIBLING, 'https://evil.test', 'null'] as const) {
      for (const claimed of [{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none', origin: OWN }]) {
        for (const payload of [claimed, { headers: claimed }]) {
          expect(await newsOf(from, payload)).toBe('The request does not come from a trusted origin.');
        }
      }
    }
  });
  it('a cookie in the first message authenticates no subscription', async () => {
    const cookie = `${ACCESS}=${browser.jar[ACCESS]}`;
    const visitor = new Browser(app, OWN, true);
    const connection = await GraphqlConnection.open(app, visitor.handshakeFrom(OWN), { cookie });
    const { payload } = await connection.subscribe('subscription { news }');
    connection.close();
    expect(payload).toMatchObject([{ message: 'Authentication credentials were not provided.' }]);
  });
});

interface Connection {
  readonly request: object;
  context?: object;
}

/** Keeps one context per connection, as some applications do. */
const contextOf = ({ req, extra }: { req?: object; extra?: Connection }): object =>
  extra ? (extra.context ??= { req: extra.request }) : { req };
const onApollo = { ...optionsWith(), platform: 'express' as const, imports: [apollo({ context: contextOf })] };

describeApplication('executions of GraphQL', onApollo, ({ app }) => {
  let connection: GraphqlConnection;
  let browser: Browser;

  beforeEach(async () => {
    browser = new Browser(app, OWN, true);
    await browser.logIn();
    connection = await connectTo(app, browser);
  });
  afterEach(() => connection.close());

  const run = async (query: string): Promise<Answer['data']> =>
    ((await connection.subscribe(query)).payload as Answer).data ?? null;

  it('after a logout, no execution on a connection sees the former user', async () => {
    const alice = { username: 'alice', viewer: 'alice' };
    expect(await run('{ me { username viewer } }')).toEqual({ me: alice });
    expect(await run('{ visitor { username viewer } }')).toEqual({ visitor: alice });
    expect(await run('{ unguarded }')).toBeNull();
    await browser.call('/auth/logout', {});
    const nobody = { username: 'nobody', viewer: 'nobody' };
    expect(await run('{ visitor { username viewer } }')).toEqual({ visitor: nobody });
    for (const query of ['{ unguarded }', '{ me { username } }']) expect(await run(query)).toBeNull();
  });

  it('request.user is not set on the request of a connection, which outlives the session', async () => {
    expect(await run('{ requestUser me { username } }')).toMatchObject({ me: { username: 'alice' } });
    expect(await run('{ requestUser }')).toEqual({ requestUser: 'nobody' });
    const { access_token } = await app.login();
    const { body } = await app.post('/graphql', access_token, { query: '{ requestUser }' }).expect(200);
    expect(body).toEqual({ data: { requestUser: 'alice' } });
    const upgrading = app.post('/graphql', access_token, { query: '{ requestUser }' }).set('Upgrade', 'h2c');
    expect((await upgrading.expect(200)).body).toEqual(body);
  });

  it('an execution loads the user once, however many aliases it has', async () => {
    const { access_token } = await app.login();
    const load = jest.spyOn(app.auth, 'loadUser');
    const aliases = Array.from({ length: 200 }, (_, i) => `a${i}: me { username viewer }`);
    const { body } = await app.post('/graphql', access_token, { query: `{ ${aliases.join(' ')} }` }).expect(200);
    expect(Object.keys((body as { data: object }).data)).toHaveLength(200);
    expect(load).toHaveBeenCalledTimes(1);
    load.mockRestore();
  });
});

/** Keeps the first request for all later ones, as Nest's driver did before version 14 with a shared object. */
const firstContext = (
  (first?: object) => (given: object) =>
    (first ??= given)
)();
const onSharedContext = { ...onApollo, imports: [apollo({ context: firstContext })] };

describeApplication('GraphQL with the context of the first request', onSharedContext, ({ app }) => {
  it('a context that contains an earlier request is refused, so that nobody acts as the first requester', async () => {
    const { access_token } = await app.login();
    const { data } = await ask(app, '{ me { username } }', access_token);
    expect(data).toEqual({ me: { username: 'alice' } });
    for (const query of ['{ me { username } }', '{ visitor { username } }', 'mutation { change }']) {
      const message = expect.stringContaining('The GraphQL context contains an earlier request') as string;
      expect(read(await ask(app, query))).toEqual([message]);
    }
  });
});

it.each([
  [true, ['login_failure']],
  [false, []],
])(
  'with exposeHeadRoutes: %s, HEAD requests to a login with Mercurius count as %j',
  async (exposeHeadRoutes, counted) => {
    const adapter = new FastifyAdapter({ exposeHeadRoutes, routerOptions: { ignoreTrailingSlash: true } });
    const graphql = { imports: [mercurius()], providers: [GuardedResolver] };
    const app = await startForTest('sqlite', { ...graphql, platform: 'fastify', adapter });
    const query = encodeURIComponent('mutation { signIn }');
    await sendRaw(app, [`HEAD /graphql?query=${query} HTTP/1.1`, 'Origin: https://blog.example.com']);
    expect((await app.auth.history(await app.userId())).map(({ event }) => event)).toEqual(counted);
  },
);

@Resolver()
class TransferResolver {
  @Query(() => String, { nullable: true })
  @UseGuards(BearerAuthGuard)
  transfer(@Args('token') _: string, @CurrentUser() { username }: AuthUser): string {
    return username;
  }
}

const BY_ARGUMENT = { imports: [apollo()], providers: [TransferResolver], auth: { tokenSource: tokensOfArgument(1) } };

describeApplication('GraphQL fields whose tokens a token source finds', BY_ARGUMENT, ({ app }) => {
  it('a field is refused if another field of the operation has the token of another user', async () => {
    const [alice, bob] = [await app.login(), await app.login('bob')];
    const field = (alias: string, { access_token: token }: typeof alice) => `${alias}: transfer(token: "${token}")`;
    expect((await ask(app, `{ ${field('a', alice)} ${field('b', alice)} }`)).data).toEqual({ a: 'alice', b: 'alice' });
    const { data, errors } = await ask(app, `{ ${field('a', alice)} ${field('b', bob)} }`);
    expect(data).toEqual({ a: 'alice', b: null });
    expect(errors).toMatchObject([{ path: ['b'], extensions: { authCode: 'credentials_ambiguous' } }]);
  });
});

const { LoginResolver } = codeOf('docs/transports.md')('### Logins in GraphQL');
const ON_APOLLO = { imports: [apollo()], providers: [LoginResolver!, GuardedResolver] };

describeApplication('the resolver in docs/transports.md', ON_APOLLO, ({ app }) => {
  it('a client logs in, refreshes and logs out, and a refused refresh is UNAUTHENTICATED', async () => {
    const tokens = '{ accessToken refreshToken }';
    const { data } = await ask(app, `mutation { login(email: "alice", password: "${PASSWORD}") ${tokens} }`);
    const { refreshToken } = (data as { login: { refreshToken: string } }).login;
    const refresh = (token: string) => ask(app, `mutation { refresh(token: "${token}") ${tokens} }`);
    const { accessToken } = ((await refresh(refreshToken)).data as { refresh: { accessToken: string } }).refresh;
    expect(read(await ask(app, 'mutation { logout }', accessToken))).toEqual({ logout: true });
    expect(read(await ask(app, '{ me { username } }', accessToken))).toEqual(INVALID);
    const extensions = { code: 'UNAUTHENTICATED', authCode: 'invalid_refresh_token' };
    expect((await refresh('other')).errors).toEqual([expect.objectContaining({ extensions })]);
    const [error] = (await ask(app, `mutation { login(email: "", password: "x") ${tokens} }`)).errors!;
    expect(error!.extensions).toMatchObject({ code: 'BAD_REQUEST', authCode: 'invalid_field' });
  });
});
