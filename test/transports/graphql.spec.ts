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
import { createDatabase, type TestDatabase } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { Host } from '../support/host';

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

  /** Nest asks no guard before a field, unless the host says so. */
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

/** Guarded by its decorator alone. */
@Resolver()
class RecentResolver {
  @RequireRecentLogin({ withinSeconds: 60 })
  @Query(() => String)
  whoRecently(@CurrentUser() user: AuthUser): string {
    return user.username;
  }
}

/** How hosts hand the request on: by the driver's default, or by what they were used to elsewhere. */
const CONTEXTS: Readonly<Record<string, Partial<MercuriusDriverConfig>>> = {
  "the driver's own context": {},
  'a context of request and reply': { context: (request: unknown, reply: unknown) => ({ request, reply }) },
  'a context of req and res': { context: (req: unknown, res: unknown) => ({ req, res, auth: "the host's own" }) },
};

interface Answer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string }[];
}

describe.each(Object.entries(CONTEXTS))('a resolver of GraphQL behind the guard, with %s', (_, config) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    // The cache is imported in a way that Jest does not know.
    const options = { driver: MercuriusDriver, autoSchemaFile: true, cache: false as never, ...config };
    host = await Host.start({
      database,
      platform: 'fastify',
      imports: [GraphQLModule.forRoot<MercuriusDriverConfig>(options)],
      providers: [ProfileResolver, RecentResolver],
    });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(() => host.reset());

  const ask = async (query: string, authorization?: string): Promise<Answer> => {
    const request = host.http.post('/graphql').send({ query });
    if (authorization !== undefined) request.set('Authorization', authorization);
    return (await request).body as Answer;
  };
  const refusal = ({ data, errors }: Answer): unknown => [data, errors?.map(({ message }) => message)];

  it('knows the user and the session, in its fields too', async () => {
    const { access_token: token, session_id: sessionId } = await host.login();
    const { data } = await ask('{ me { username sessionId } again: me { sessionId } }', `Bearer ${token}`);
    expect(data).toEqual({ me: { username: 'alice', sessionId }, again: { sessionId } });
  });

  it('is refused without a token, and with one that is over, by messages that tell no more than the endpoints do', async () => {
    const { access_token: token } = await host.login();
    await host.post('/auth/logout', token).expect(200);
    const missing = [null, ['Authentication credentials were not provided.']];
    const invalid = [null, ['Invalid or expired access token.']];
    expect(refusal(await ask('{ me { username } }'))).toEqual(missing);
    expect(refusal(await ask('{ me { username } }', 'Basic abc'))).toEqual(missing);
    expect(refusal(await ask('{ me { username } }', 'Bearer abc'))).toEqual(invalid);
    expect(refusal(await ask('{ me { username } }', `Bearer ${token}`))).toEqual(invalid);
  });

  it('reads no token from the query or a cookie', async () => {
    const { access_token: token } = await host.login();
    const request = host.http.post(`/graphql?access_token=${token}`).set('Cookie', `Authorization=Bearer ${token}`);
    const { body } = await request.send({ query: '{ me { username } }', authorization: `Bearer ${token}` });
    expect(refusal(body)).toEqual([null, ['Authentication credentials were not provided.']]);
  });

  it('that is public is open to all, also beside one that is not', async () => {
    expect((await ask('{ double(of: 2) }')).data).toEqual({ double: 4 });
    const { access_token: token } = await host.login();
    const { data } = await ask('{ double(of: 3) me { username } }', `Bearer ${token}`);
    expect(data).toEqual({ double: 6, me: { username: 'alice' } });
  });

  it('tells what the library refuses in a resolver of the host, by the filter', async () => {
    expect(refusal(await ask('{ signIn }'))).toEqual([null, ['Invalid credentials.']]);
  });

  it('may ask for a recent login', async () => {
    const { access_token: token } = await host.login();
    expect((await ask('{ secret }', `Bearer ${token}`)).data).toEqual({ secret: 'the secret' });
    host.clock.advance(2 * MINUTE);
    expect(refusal(await ask('{ secret }', `Bearer ${token}`))).toEqual([null, ['A recent login is required.']]);
  });

  it('that requires a recent login needs no other guard, and two guards of a query look the token up once', async () => {
    expect(refusal(await ask('{ whoRecently }'))).toEqual([null, ['Authentication credentials were not provided.']]);
    const { access_token: token } = await host.login();
    for (const [query, data] of [
      ['{ whoRecently }', { whoRecently: 'alice' }],
      ['{ secret }', { secret: 'the secret' }],
    ] as const) {
      const authenticate = jest.spyOn(host.auth, 'authenticate');
      expect((await ask(query, `Bearer ${token}`)).data).toEqual(data);
      expect(authenticate).toHaveBeenCalledTimes(1);
      authenticate.mockRestore();
    }
    host.clock.advance(2 * MINUTE);
    expect(refusal(await ask('{ whoRecently }', `Bearer ${token}`))).toEqual([null, ['A recent login is required.']]);
  });
});
