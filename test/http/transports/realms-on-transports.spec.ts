import { Controller, type DynamicModule, Get, Next, UseGuards } from '@nestjs/common';
import { Args, Query, Resolver } from '@nestjs/graphql';
import {
  type AuthPrincipal,
  CurrentPrincipal,
  type FormerToken,
  FormerTokens,
  OptionalAuth,
  RealmResolver,
  type TransportCall,
} from 'nestjs-session-auth';
import { Browser } from '../../support/browser';
import { SECOND } from '../../support/driven-clock';
import { defineSuite, describeApplication, INVALID_ACCESS } from '../../support/environment';
import { apollo, mercurius } from '../../support/graphql-connection';
import { GUARD, returning } from '../../support/handlers';
import { PageGuard } from '../../support/page-guard';
import { ALICE, createAlices, tenants } from '../../support/realms';
import type { PlatformName, TestApplication } from '../../support/test-application';
import { ChatGateway, connectWs, gatewayOptions } from './chat';
import { EveryTransport } from './every-transport';

const COOKIES = { cookies: { mode: 'optional' as const } };

const loginAtAcme = async (app: TestApplication) => {
  await createAlices(app);
  return app.auth.login(ALICE, { realm: 'acme' });
};

async function browserAtAcme(app: TestApplication): Promise<Browser> {
  const { accessToken, refreshToken } = await loginAtAcme(app);
  const browser = new Browser(app);
  browser.put('__Host-auth_access', accessToken);
  browser.put('__Host-auth_refresh', refreshToken);
  return browser;
}

const everywhere = new EveryTransport({ realm: [GUARD, returning(CurrentPrincipal())] }, tenants());

describeApplication('realms over all transports', everywhere.options, ({ app }) => {
  afterAll(everywhere.close);

  // `EnvelopeTokens` names a realm, which does not count.
  it('the realm is compared on each call and message, whatever realm a TokenSource names', async () => {
    const { accessToken } = await loginAtAcme(app);
    const principal = expect.objectContaining({ realm: 'acme' }) as object;
    for (const realm of ['acme', 'globex', null, 'acme']) {
      const [data, headers] = realm === null ? [{}, {}] : [{ realm }, { 'X-Realm': realm }];
      const answers = await everywhere.ask(app, 'realm', accessToken, data, headers);
      expect([realm, answers]).toEqual([realm, Array(4).fill(realm === 'acme' ? [principal] : 'access_token_invalid')]);
    }
  });
});

class TenantOfPath extends RealmResolver {
  realmOf(call: TransportCall): string | null {
    return call.getArgByIndex<{ readonly params: { readonly tenant?: string } }>(0).params.tenant ?? null;
  }
}

@Controller()
@UseGuards(PageGuard)
class PassOnController {
  @Get('tenants/:tenant/*path')
  passOn(@Next() next: () => void): void {
    next();
  }

  @Get(['tenants/:tenant/same', 'tenants/acme/other'])
  read(@CurrentPrincipal() { realm }: AuthPrincipal): object {
    return { realm };
  }
}

const passOn = {
  ...tenants({ ...COOKIES, realm: TenantOfPath }),
  controllers: [PassOnController],
  providers: [PageGuard],
};

describeApplication('realms of requests that are passed on', passOn, ({ app }) => {
  it('the realm is compared again by a handler to which another one passes the request on', async () => {
    const { accessToken } = await loginAtAcme(app);
    await app.get('/tenants/acme/same', accessToken).expect(200, { realm: 'acme' });
    await app.get('/tenants/acme/other', accessToken).expect(403);
    await app.get('/tenants/globex/same', accessToken).expect(403);
    const browser = await browserAtAcme(app);
    app.clock.advance(1000 * SECOND);
    expect((await browser.send('/tenants/acme/same')).body).toEqual({ realm: 'acme' });
    app.clock.advance(1000 * SECOND);
    expect((await browser.send('/tenants/acme/other')).status).toBe(403);
  });
});

@Resolver()
class VisitorResolver {
  @Query(() => String)
  @OptionalAuth()
  visitor(@Args('realm') _: string, @CurrentPrincipal() principal: AuthPrincipal | null): string {
    return principal?.realm ?? 'nobody';
  }
}

class FormerIds extends FormerTokens {
  verify(userId: string): FormerToken {
    return { userId, issuedAt: new Date(8.64e15) };
  }
}

describe.each<[string, PlatformName, DynamicModule]>([
  ['Apollo', 'express', apollo()],
  ['Mercurius', 'fastify', mercurius()],
])('realms of GraphQL fields with %s', (_, platform, graphql) => {
  const options = { ...tenants({ ...COOKIES, formerTokens: FormerIds }), providers: [VisitorResolver] };
  defineSuite('sqlite', { ...options, platform, imports: [graphql] }, ({ app }) => {
    it.each([
      ['visitor(realm: "acme") other: visitor(realm: "globex")', null],
      ['other: visitor(realm: "globex") visitor(realm: "acme")', null],
      ['other: visitor(realm: "globex")', { other: 'nobody' }],
      ['visitor(realm: "acme") other: visitor(realm: "acme")', { visitor: 'acme', other: 'acme' }],
    ])('no field of an operation receives the caller of a field of another realm: %s', async (fields, data) => {
      const browser = await browserAtAcme(app);
      const { body } = await browser.call('/graphql', { query: `{ ${fields} }` });
      expect(body.data).toEqual(data);
    });

    it('a former token is refused by each field of a realm other than that of its user', async () => {
      const [id] = await createAlices(app);
      const query = '{ visitor(realm: "acme") other: visitor(realm: "globex") }';
      const { body } = await app.post('/graphql', String(id), { query });
      expect(body).toMatchObject({ data: null, errors: [{ path: ['other'], message: INVALID_ACCESS.detail }] });
    });
  });
});

class RealmOfText extends RealmResolver {
  realmOf(call: TransportCall): string | null {
    return call.getArgByIndex<string | null>(1);
  }
}

const texts = { ...tenants({ ...COOKIES, realm: RealmOfText }), ...gatewayOptions(ChatGateway) };

describeApplication('realms of messages that are texts', texts, ({ app }) => {
  it('no message receives the caller of a message of another realm, and none has a caller once the cookie has expired', async () => {
    const ask = await connectWs(app, (await browserAtAcme(app)).handshakeFrom('https://api.example.com'));
    const answers = [await ask('visitor', 'acme'), await ask('visitor', 'globex')];
    app.clock.advance(1000 * SECOND);
    answers.push(await ask('visitor', 'acme'));
    // The entity has no property `username`, so the handler names nobody.
    expect(answers).toEqual([['nobody', expect.any(String)], 'error', ['nobody', null]]);
  });
});
