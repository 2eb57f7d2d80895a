import { UseGuards } from '@nestjs/common';
import { Context, Field, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { type AuthUser, BearerAuthGuard, CurrentUser, OptionalAuth } from 'nestjs-session-auth';
import { Browser } from '../../support/browser';
import { describeApplication } from '../../support/environment';
import { apollo, GraphqlConnection } from '../../support/graphql-connection';
import { PASSWORD, type TestApplication } from '../../support/test-application';

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

const options = {
  auth: { cookies: { mode: 'optional' as const } },
  imports: [apollo({ context: contextOf })],
  providers: [ProfileResolver],
};

describeApplication('executions of GraphQL', options, (env) => {
  let app: TestApplication;
  let browser: Browser;

  beforeEach(async () => {
    ({ app } = env);
    browser = new Browser(app, OWN, true);
    await browser.call('/auth/login', { username: 'alice', password: PASSWORD });
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
    expect((await run('{ unguarded { username } }')).data).toBeNull();
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
