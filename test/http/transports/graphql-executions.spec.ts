import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { UseGuards } from '@nestjs/common';
import { Context, Field, GraphQLModule, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { type AuthUser, BearerAuthGuard, CurrentUser, OptionalAuth } from 'nestjs-session-auth';
import { Browser } from '../../support/browser';
import { createDatabase, type TestDatabase } from '../../support/databases';
import { GraphqlConnection } from '../../support/graphql-connection';
import { PASSWORD, TestApplication } from '../../support/test-application';

const ACCESS = '__Host-auth_access';
const OWN = 'https://api.example.com';

@ObjectType()
class Profile {
  @Field()
  username!: string;
}

@Resolver(() => Profile)
class ProfileResolver {
  @UseGuards(BearerAuthGuard)
  @Query(() => Profile)
  me(@CurrentUser() user: AuthUser): Profile {
    return { username: user.username };
  }

  @OptionalAuth()
  @Query(() => Profile)
  visitor(@CurrentUser() user: AuthUser | null): Profile {
    return { username: user?.username ?? 'nobody' };
  }

  @OptionalAuth()
  @Query(() => Profile)
  requestUser(@Context() { req }: { req: { user?: { username: string } | null } }): Profile {
    return { username: req.user?.username ?? 'nobody' };
  }

  /** A resolver that the application forgot to guard. */
  @Query(() => Profile)
  unguarded(@CurrentUser() user: AuthUser): Profile {
    return { username: user.username };
  }

  @ResolveField(() => String)
  viewer(@CurrentUser() user: AuthUser | null): string {
    return user?.username ?? 'nobody';
  }
}

interface Connection {
  readonly request: object;
  context?: object;
}

/** Keeps one context per connection, as some applications do. */
const contextOf = ({ req, extra }: { req?: object; extra?: Connection }): object =>
  extra ? (extra.context ??= { req: extra.request }) : { req };

interface Answer {
  readonly data?: Record<string, { username: string }> | null;
}

describe('executions of GraphQL', () => {
  let database: TestDatabase;
  let app: TestApplication;
  let browser: Browser;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({
      database,
      auth: { cookies: { mode: 'optional' } },
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: { 'graphql-ws': true },
          context: contextOf,
        }),
      ],
      providers: [ProfileResolver],
    });
  });
  beforeEach(async () => {
    browser = new Browser(app, OWN, true);
    await browser.call('/auth/login', { username: 'alice', password: PASSWORD });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  /** Opens a connection with the cookies of the page, and returns a function that runs queries over it. */
  async function connect(): Promise<{ run: (query: string) => Promise<Answer>; close: () => void }> {
    const headers = { ...browser.handshakeFrom(OWN), Cookie: `${ACCESS}=${browser.jar[ACCESS]}` };
    const connection = await GraphqlConnection.open(app, headers);
    const run = async (query: string): Promise<Answer> => (await connection.subscribe(query)).payload as Answer;
    return { run, close: () => connection.close() };
  }

  it('after a logout, no execution on a connection sees the former user', async () => {
    const { run, close } = await connect();
    for (const field of ['me', 'visitor']) {
      expect(await run(`{ ${field} { username viewer } }`)).toEqual({
        data: { [field]: { username: 'alice', viewer: 'alice' } },
      });
    }
    await browser.call('/auth/logout', {});
    expect(await run('{ visitor { username viewer } }')).toEqual({
      data: { visitor: { username: 'nobody', viewer: 'nobody' } },
    });
    expect((await run('{ unguarded { username } }')).data).toBeNull();
    expect((await run('{ me { username } }')).data).toBeNull();
    close();
  });

  it('request.user is not set on the request of a connection, which outlives the session', async () => {
    const { run, close } = await connect();
    expect((await run('{ requestUser { username } me { username } }')).data).toMatchObject({
      me: { username: 'alice' },
    });
    expect((await run('{ requestUser { username } }')).data).toEqual({ requestUser: { username: 'nobody' } });
    const { access_token } = await app.login();
    const query = { query: '{ requestUser { username } }' };
    const { body } = await app.post('/graphql', access_token, query).expect(200);
    expect(body).toEqual({ data: { requestUser: { username: 'alice' } } });
    close();
  });

  it('an unguarded resolver does not see the caller of an earlier execution', async () => {
    const { run, close } = await connect();
    expect((await run('{ me { username } }')).data).toEqual({ me: { username: 'alice' } });
    expect((await run('{ unguarded { username } }')).data).toBeNull();
    close();
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
