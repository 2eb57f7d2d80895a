import { UseGuards } from '@nestjs/common';
import { Args, Field, GraphQLModule, Int, ObjectType, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import {
  AuthService,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  Public,
  RequireRecentLogin,
  type AuthUser,
  type SessionInfo,
} from 'nestjs-session-auth';
import { createDatabase, type TestDatabase } from '../../support/databases';
import { MINUTE } from '../../support/driven-clock';
import { TestApplication } from '../../support/test-application';

@ObjectType()
class Profile {
  @Field()
  username!: string;

  @Field()
  sessionId!: string;
}

@Resolver(() => Profile)
@UseGuards(BearerAuthGuard)
class ProfileResolver {
  constructor(private readonly auth: AuthService) {}

  @Query(() => Profile)
  me(@CurrentUser() user: AuthUser): Profile {
    return { username: user.username, sessionId: '' };
  }

  /** By default, Nest does not run guards for field resolvers. */
  @ResolveField(() => String)
  sessionId(@Parent() _: Profile, @CurrentSession() session: SessionInfo): string {
    return session.id;
  }

  @Public()
  @Query(() => Int)
  double(@Args('of', { type: () => Int }) of: number): number {
    return of * 2;
  }

  @Public()
  @Query(() => Boolean)
  async signIn(): Promise<boolean> {
    await this.auth.login({ username: 'alice', password: 'wrong' });
    return true;
  }

  @RequireRecentLogin({ withinSeconds: 60 })
  @Query(() => String)
  secret(): string {
    return 'the secret';
  }
}

/** A resolver whose only guard comes from its decorator. */
@Resolver()
class RecentResolver {
  @RequireRecentLogin({ withinSeconds: 60 })
  @Query(() => String)
  whoRecently(@CurrentUser() user: AuthUser): string {
    return user.username;
  }
}

/** Contexts through which applications pass the request to resolvers. */
const CONTEXTS: Readonly<Record<string, Partial<MercuriusDriverConfig>>> = {
  "the driver's own context": {},
  'a context of request and reply': { context: (request: unknown, reply: unknown) => ({ request, reply }) },
  'a context of req and res': {
    context: (req: unknown, res: unknown) => ({ req, res, auth: "the application's own" }),
  },
};

interface Answer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: object }[];
}

describe.each(Object.entries(CONTEXTS))('GraphQL resolvers behind the guard, with %s', (_, config) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    // Jest does not support the way in which Mercurius imports its cache.
    const options = { driver: MercuriusDriver, autoSchemaFile: true, cache: false as never, ...config };
    app = await TestApplication.start({
      database,
      platform: 'fastify',
      imports: [GraphQLModule.forRoot<MercuriusDriverConfig>(options)],
      providers: [ProfileResolver, RecentResolver],
    });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(() => app.reset());

  const ask = async (query: string, authorization?: string): Promise<Answer> => {
    const request = app.http.post('/graphql').send({ query });
    if (authorization !== undefined) request.set('Authorization', authorization);
    return (await request).body as Answer;
  };
  const refusal = ({ data, errors }: Answer): unknown => [data, errors?.map(({ message }) => message)];

  it('a resolver and its field resolvers receive the user and the session', async () => {
    const { access_token: token, session_id: sessionId } = await app.login();
    const { data } = await ask('{ me { username sessionId } again: me { sessionId } }', `Bearer ${token}`);
    expect(data).toEqual({ me: { username: 'alice', sessionId }, again: { sessionId } });
  });

  it('a resolver refuses a missing or invalid token with the error messages of the endpoints', async () => {
    const { access_token: token } = await app.login();
    await app.post('/auth/logout', token).expect(200);
    const missing = [null, ['Authentication credentials were not provided.']];
    const invalid = [null, ['Invalid or expired access token.']];
    expect(refusal(await ask('{ me { username } }'))).toEqual(missing);
    expect(refusal(await ask('{ me { username } }', 'Basic abc'))).toEqual(missing);
    expect(refusal(await ask('{ me { username } }', 'Bearer abc'))).toEqual(invalid);
    expect(refusal(await ask('{ me { username } }', `Bearer ${token}`))).toEqual(invalid);
  });

  it('the extensions of an error contain the code for GraphQL and the code of the library', async () => {
    const extensionsOf = async (query: string, authorization?: string): Promise<unknown> =>
      (await ask(query, authorization)).errors?.[0]?.extensions;
    expect(await extensionsOf('{ me { username } }')).toEqual({
      code: 'UNAUTHENTICATED',
      authCode: 'credentials_missing',
    });
    expect(await extensionsOf('{ signIn }')).toEqual({ code: 'BAD_REQUEST', authCode: 'invalid_credentials' });
    const { access_token: token } = await app.login();
    app.clock.advance(2 * MINUTE);
    const refused = { code: 'FORBIDDEN', authCode: 'recent_login_required' };
    expect(await extensionsOf('{ secret }', `Bearer ${token}`)).toEqual(refused);
  });

  it('a token in the query string, the body or a cookie does not authenticate a resolver', async () => {
    const { access_token: token } = await app.login();
    const request = app.http.post(`/graphql?access_token=${token}`).set('Cookie', `Authorization=Bearer ${token}`);
    const { body } = await request.send({ query: '{ me { username } }', authorization: `Bearer ${token}` });
    expect(refusal(body)).toEqual([null, ['Authentication credentials were not provided.']]);
  });

  it('a public resolver requires no token, and can be queried together with a guarded resolver', async () => {
    expect((await ask('{ double(of: 2) }')).data).toEqual({ double: 4 });
    const { access_token: token } = await app.login();
    const { data } = await ask('{ double(of: 3) me { username } }', `Bearer ${token}`);
    expect(data).toEqual({ double: 6, me: { username: 'alice' } });
  });

  it('the error filter converts an error of the library that a resolver of the application throws', async () => {
    expect(refusal(await ask('{ signIn }'))).toEqual([null, ['Invalid credentials.']]);
  });

  it('a resolver can require a recent login', async () => {
    const { access_token: token } = await app.login();
    expect((await ask('{ secret }', `Bearer ${token}`)).data).toEqual({ secret: 'the secret' });
    app.clock.advance(2 * MINUTE);
    expect(refusal(await ask('{ secret }', `Bearer ${token}`))).toEqual([null, ['A recent login is required.']]);
  });

  it('@RequireRecentLogin() guards a resolver without another guard, and two guards cause one lookup', async () => {
    expect(refusal(await ask('{ whoRecently }'))).toEqual([null, ['Authentication credentials were not provided.']]);
    const { access_token: token } = await app.login();
    for (const [query, data] of [
      ['{ whoRecently }', { whoRecently: 'alice' }],
      ['{ secret }', { secret: 'the secret' }],
    ] as const) {
      const authenticate = jest.spyOn(app.authentication, 'authenticate');
      expect((await ask(query, `Bearer ${token}`)).data).toEqual(data);
      expect(authenticate).toHaveBeenCalledTimes(1);
      authenticate.mockRestore();
    }
    app.clock.advance(2 * MINUTE);
    expect(refusal(await ask('{ whoRecently }', `Bearer ${token}`))).toEqual([null, ['A recent login is required.']]);
  });
});
