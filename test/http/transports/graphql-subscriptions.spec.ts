import { UseGuards } from '@nestjs/common';
import { GraphQLModule, Query, Resolver, Subscription } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { BearerAuthGuard, CurrentUser, type AuthUser } from 'nestjs-session-auth';
import { Browser, type Initiator } from '../../support/browser';
import { createDatabase, type TestDatabase } from '../../support/databases';
import { GraphqlConnection } from '../../support/graphql-connection';
import { TestApplication, PASSWORD } from '../../support/test-application';

const ACCESS = '__Host-auth_access';
const OWN = 'https://api.example.com';
const SIBLING = 'https://blog.example.com';

@Resolver()
@UseGuards(BearerAuthGuard)
class NewsResolver {
  @Query(() => String)
  who(@CurrentUser() user: AuthUser): string {
    return user.username;
  }

  @Subscription(() => String, { resolve: (news: string) => news })
  async *news(@CurrentUser() user: AuthUser): AsyncGenerator<string> {
    yield await Promise.resolve(`for ${user.username}`);
  }
}

/** The data of an event, or the errors of a refused subscription. */
type News = { readonly data: { readonly news: string } } | readonly { readonly message: string }[];

describe('GraphQL subscriptions', () => {
  let database: TestDatabase;
  let app: TestApplication;
  let browser: Browser;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({
      database,
      platform: 'fastify',
      auth: { cookies: { mode: 'optional' } },
      imports: [
        GraphQLModule.forRoot<MercuriusDriverConfig>({
          driver: MercuriusDriver,
          autoSchemaFile: true,
          // Jest does not support the way in which Mercurius imports its cache.
          cache: false as never,
          subscription: true,
        }),
      ],
      providers: [NewsResolver],
    });
    browser = new Browser(app, OWN, true);
    await browser.call('/auth/login', { username: 'alice', password: PASSWORD });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  /** Returns the news that a page receives. The page can set the payload of `connection_init`, but no headers. */
  async function newsOf(from: Initiator, payload: object = {}): Promise<string | undefined> {
    const headers = { ...browser.handshakeFrom(from), Cookie: `${ACCESS}=${browser.jar[ACCESS]}` };
    const connection = await GraphqlConnection.open(app, headers, payload);
    const answer = (await connection.subscribe('subscription { news }')).payload as News;
    connection.close();
    return 'data' in answer ? answer.data.news : answer[0]?.message;
  }

  it('the cookie authenticates a subscription if the handshake comes from the same origin', async () => {
    expect(await newsOf(OWN)).toBe('for alice');
  });

  it('a subscription of a page on another origin is refused, whatever headers its first message claims', async () => {
    const refusal = 'The request does not come from a trusted origin.';
    for (const from of [SIBLING, 'https://evil.test', 'null'] as const) {
      expect(await newsOf(from)).toBe(refusal);
      for (const claimed of [{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none', origin: OWN }]) {
        expect(await newsOf(from, claimed)).toBe(refusal);
        expect(await newsOf(from, { headers: claimed })).toBe(refusal);
      }
    }
  });
});
