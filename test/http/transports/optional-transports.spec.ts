import { once } from 'node:events';
import { UseGuards } from '@nestjs/common';
import { Field, GraphQLModule, ObjectType, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  rememberHandshake,
  TokenSource,
  type AuthUser,
  type Handshake,
  type PresentedToken,
  type SessionInfo,
  type TransportCall,
} from 'nestjs-session-auth';
import { WebSocket } from 'ws';
import { Browser } from '../../support/browser';
import { createDatabase, type TestDatabase } from '../../support/databases';
import { MINUTE } from '../../support/driven-clock';
import { TestApplication, PASSWORD, type TestApplicationOptions } from '../../support/test-application';

const CREDENTIALS = { username: 'alice', password: PASSWORD };
const ACCESS = '__Host-auth_access';
const COOKIES = { cookies: { mode: 'optional' } } as const;

let database: TestDatabase;
let app: TestApplication;
let browser: Browser;
const closing: (() => void)[] = [];

async function start(options: Omit<TestApplicationOptions, 'database'>): Promise<void> {
  database = await createDatabase('sqlite');
  app = await TestApplication.start({ database, auth: COOKIES, ...options });
  browser = new Browser(app);
  await browser.call('/auth/login', CREDENTIALS);
}
afterEach(async () => {
  closing.splice(0).forEach((close) => close());
  await app.close();
  await database.drop();
});

const nameOf = (user: AuthUser | null): string => (user ? user.username : 'nobody');

@ObjectType()
class Article {
  @Field()
  readBy!: string;
}

@Resolver(() => Article)
@OptionalAuth()
class ArticleResolver {
  @Query(() => Article)
  article(@CurrentUser() user: AuthUser): Article {
    return { readBy: nameOf(user) };
  }

  @ResolveField(() => String)
  session(@Parent() _: Article, @CurrentSession() session: SessionInfo): string {
    return session ? session.id : 'none';
  }

  @UseGuards(BearerAuthGuard)
  @Query(() => String)
  who(@CurrentUser() user: AuthUser): string {
    return user.username;
  }
}

@ObjectType()
class Magazine {
  @Field()
  title!: string;
}

@Resolver(() => Magazine)
class MagazineResolver {
  @OptionalAuth()
  @Query(() => Magazine)
  magazine(): Magazine {
    return { title: 'title' };
  }

  /** Nest runs no guard for a field resolver, and this resolver has no `@OptionalAuth()` of its own. */
  @ResolveField(() => String)
  readBy(@Parent() _: Magazine, @CurrentUser() user: AuthUser): string {
    return nameOf(user);
  }
}

describe('GraphQL queries with @OptionalAuth()', () => {
  beforeEach(() => {
    // Jest does not support the way in which Mercurius imports its cache.
    const options = { driver: MercuriusDriver, autoSchemaFile: true, cache: false as never };
    return start({
      platform: 'fastify',
      imports: [GraphQLModule.forRoot<MercuriusDriverConfig>(options)],
      providers: [ArticleResolver, MagazineResolver],
    });
  });

  interface Answer {
    readonly data: Record<string, unknown> | null;
    readonly errors?: readonly { readonly message: string }[];
  }
  const read = ({ data, errors }: Answer): unknown => errors?.map(({ message }) => message) ?? data;
  const ask = async (query: string, token?: string): Promise<unknown> => {
    const request = app.http.post('/graphql').send({ query });
    if (token !== undefined) request.set('Authorization', `Bearer ${token}`);
    return read((await request).body as Answer);
  };

  it('a query receives the user of a valid token and null without a token, and refuses an invalid token', async () => {
    const { access_token: token, session_id: session } = await app.login();
    const query = '{ article { readBy session } }';
    expect(await ask(query, token)).toEqual({ article: { readBy: 'alice', session } });
    expect(await ask(query)).toEqual({ article: { readBy: 'nobody', session: 'none' } });
    expect(await ask(query, 'token')).toEqual(['Invalid or expired access token.']);
  });

  it('a field resolver receives null without a token', async () => {
    const { access_token: token } = await app.login();
    const query = '{ magazine { readBy } }';
    expect(await ask(query)).toEqual({ magazine: { readBy: 'nobody' } });
    expect(await ask(query, token)).toEqual({ magazine: { readBy: 'alice' } });
  });

  it('all queries of an operation receive the same user, even if the cookie expires in between', async () => {
    const query = '/graphql?query={article{readBy}again:article{readBy session}}';
    const principal = await app.auth.authenticate((await app.login()).access_token);
    const answers = [principal, null];
    const authenticate = jest.spyOn(app.authentication, 'authenticate');
    authenticate.mockImplementation(() => Promise.resolve(answers.shift() ?? null));
    const id = principal!.sessionId;
    expect(read((await browser.send(query)).body as Answer)).toEqual({
      article: { readBy: 'alice' },
      again: { readBy: 'alice', session: id },
    });
    expect(authenticate).toHaveBeenCalledTimes(2);
    authenticate.mockImplementation(() => Promise.resolve(null));
    expect(read((await browser.send(query)).body as Answer)).toEqual({
      article: { readBy: 'nobody' },
      again: { readBy: 'nobody', session: 'none' },
    });
  });

  it('@OptionalAuth() does not open guarded queries of the same operation', async () => {
    const { access_token: token } = await app.login();
    for (const query of ['{ article { readBy } who }', '{ who article { readBy } }']) {
      expect(await ask(query)).toEqual(['Authentication credentials were not provided.']);
      expect(await ask(query, token)).toEqual({ who: 'alice', article: { readBy: 'alice' } });
    }
  });

  it('a query treats an invalid cookie like a missing cookie', async () => {
    const query = '/graphql?query={article{readBy}}';
    expect(read((await browser.send(query)).body as Answer)).toEqual({ article: { readBy: 'alice' } });
    app.clock.advance(15 * MINUTE);
    expect(read((await browser.send(query)).body as Answer)).toEqual({ article: { readBy: 'nobody' } });
    const headers = { Authorization: 'Bearer token' };
    const refused = await browser.send(query, { headers });
    expect(read(refused.body as Answer)).toEqual(['Invalid or expired access token.']);
  });
});

@WebSocketGateway()
class ArticleGateway {
  handleConnection(client: object, request: Handshake): void {
    rememberHandshake(client, request);
  }

  @OptionalAuth()
  @SubscribeMessage('article')
  article(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { event: 'article', data: [nameOf(user), session && session.id] };
  }
}

/** Finds a token in the data of a message. */
class MessageTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    const { token } = call.getArgByIndex<{ token?: string } | undefined>(1) ?? {};
    return token === undefined ? null : { accessToken: token };
  }
}

describe('WebSocket messages with @OptionalAuth()', () => {
  const configure = (app: TestApplication['nest']): void => void app.useWebSocketAdapter(new WsAdapter(app));
  const connect = async (headers: Record<string, string> = {}): Promise<(data?: unknown) => Promise<unknown>> => {
    const socket = new WebSocket(app.url.replace('http', 'ws'), { headers });
    closing.push(() => socket.close());
    await once(socket, 'open');
    return async (data) => {
      socket.send(JSON.stringify({ event: 'article', data }));
      const [message] = (await once(socket, 'message')) as [Buffer];
      const answer = JSON.parse(message.toString()) as { data: { code?: string } };
      return answer.data.code ?? answer.data;
    };
  };
  const NOBODY = ['nobody', null];

  it.each([undefined, 'text', {}])(
    'a message handler receives the user of the handshake, or null (%j)',
    async (data) => {
      await start({ providers: [ArticleGateway], configure });
      const { access_token: token, session_id: id } = await app.login();
      const ask = await connect({ Authorization: `Bearer ${token}` });
      expect(await ask(data)).toEqual(['alice', id]);
      expect(await (await connect())(data)).toEqual(NOBODY);
      await app.post('/auth/logout', token).expect(200);
      expect(await ask(data)).toBe('access_token_invalid');
    },
  );

  it.each([undefined, 'text', {}])(
    'a message handler receives null after the cookie of the handshake has become invalid (%j)',
    async (data) => {
      await start({ providers: [ArticleGateway], configure });
      const ask = await connect(browser.handshakeFrom('https://api.example.com'));
      expect(await ask(data)).toMatchObject(['alice', expect.any(String)]);
      app.clock.advance(15 * MINUTE);
      expect(await ask(data)).toEqual(NOBODY);
      const Cookie = `${ACCESS}=nonsense`;
      const foreign = await connect({ ...browser.handshakeFrom('https://evil.test'), Cookie });
      expect(await foreign(data)).toBe('cross_site_request');
    },
  );

  it('a message with its own invalid token is refused even if the cookie of the handshake is valid', async () => {
    await start({ providers: [ArticleGateway], configure, auth: { ...COOKIES, tokenSource: MessageTokens } });
    const ask = await connect(browser.handshakeFrom('https://api.example.com'));
    const { access_token: token, session_id: id } = await app.login('bob');
    expect(await ask({ token })).toEqual(['bob', id]);
    expect(await ask({ token: 'token' })).toBe('access_token_invalid');
    expect(await ask({})).toMatchObject(['alice', expect.any(String)]);
    app.clock.advance(15 * MINUTE);
    expect(await ask({ token })).toBe('access_token_invalid');
    expect(await ask({})).toEqual(NOBODY);
  });
});
