import { Controller, Get, Module, Next, UseGuards } from '@nestjs/common';
import { Args, Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, MessagePattern, Transport, type MicroserviceOptions } from '@nestjs/microservices';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import {
  type AuthPrincipal,
  BearerAuthGuard,
  CurrentPrincipal,
  OpenSockets,
  OptionalAuth,
  type PresentedToken,
  RealmResolver,
  TokenSource,
  type TransportCall,
} from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { Browser } from '../../support/browser';
import { SECOND } from '../../support/driven-clock';
import { defineSuite, describeOnEachDatabase } from '../../support/environment';
import { apollo } from '../../support/graphql-connection';
import { freePort } from '../../support/port';
import { PageGuard } from '../../support/page-guard';
import { ALICE, createAlices, Member, tenants } from '../../support/realms';
import type { TestApplication } from '../../support/test-application';
import { ChatGateway, connectIo, connectWs, gatewayOptions, type Send } from './chat';

@Resolver()
class RealmResolvers {
  @Query(() => String)
  @UseGuards(BearerAuthGuard)
  realm(@CurrentPrincipal() principal: AuthPrincipal): string {
    return principal.realm!;
  }

  @Query(() => String)
  @OptionalAuth()
  visitor(@Args('realm') _: string, @CurrentPrincipal() principal: AuthPrincipal | null): string {
    return principal?.realm ?? 'nobody';
  }
}

@Controller()
@UseGuards(BearerAuthGuard)
class RealmMessages {
  @MessagePattern('realm')
  realm(@CurrentPrincipal() principal: AuthPrincipal): string | null {
    return principal.realm;
  }
}

/** Finds the token in the payload of a message, with a client that names a realm of its own. */
class EnvelopeTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    if (call.getType() !== 'rpc') return null;
    const { accessToken } = call.getArgByIndex<{ accessToken: string }>(0);
    return { accessToken, client: { realm: 'acme' } };
  }
}

const REALMS = ['acme', 'globex', null, 'acme'];
const REFUSED = 'access_token_invalid';
const COOKIES = { cookies: { mode: 'optional' as const } };
const ORIGIN = 'https://api.example.com';

async function browserOf(app: TestApplication): Promise<Browser> {
  const { accessToken, refreshToken } = await app.auth.login(ALICE, { realm: 'acme' });
  const browser = new Browser(app);
  browser.put('__Host-auth_access', accessToken);
  browser.put('__Host-auth_refresh', refreshToken);
  return browser;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe.each([
  ['ws', WsAdapter],
  ['socket.io', IoAdapter],
] as const)('realms over %s', (name, adapter) => {
  defineSuite('sqlite', { ...tenants(), ...gatewayOptions(ChatGateway, adapter) }, ({ app }) => {
    it('the realm is compared on each message', async () => {
      await createAlices(app);
      const { accessToken } = await app.auth.login(ALICE, { realm: 'acme' });
      const headers = { ...bearer(accessToken), 'X-Realm': 'nobody' };
      const ask: Send = name === 'ws' ? await connectWs(app, headers) : await connectIo(app, { extraHeaders: headers });
      const answers = [];
      for (const realm of REALMS) answers.push(await ask('me', realm === null ? {} : { realm }));
      // The entity has no property `username`.
      const me = [null, expect.any(String)];
      expect(answers).toEqual([me, REFUSED, REFUSED, me]);
    });
  });
});

const graphql = { ...tenants(COOKIES), imports: [apollo()], providers: [RealmResolvers] };

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

defineSuite('sqlite', passOn, ({ app }) => {
  it('the realm is compared again by a handler to which another one passes the request on', async () => {
    await createAlices(app);
    const { accessToken } = await app.auth.login(ALICE, { realm: 'acme' });
    await app.get('/tenants/acme/same', accessToken).expect(200, { realm: 'acme' });
    await app.get('/tenants/acme/other', accessToken).expect(403);
    await app.get('/tenants/globex/same', accessToken).expect(403);
    const browser = await browserOf(app);
    app.clock.advance(1000 * SECOND);
    expect((await browser.send('/tenants/acme/same')).body).toEqual({ realm: 'acme' });
    app.clock.advance(1000 * SECOND);
    expect((await browser.send('/tenants/acme/other')).status).toBe(403);
  });
});

describe('realms over GraphQL', () => {
  defineSuite('sqlite', graphql, ({ app }) => {
    it('the realm is compared in each operation', async () => {
      await createAlices(app);
      const { accessToken } = await app.auth.login(ALICE, { realm: 'acme' });
      const answers = [];
      for (const realm of REALMS) {
        const headers = { ...bearer(accessToken), ...(realm === null ? {} : { 'X-Realm': realm }) };
        const { body } = await app.http.post('/graphql').set(headers).send({ query: '{ realm }' });
        answers.push(body.data?.realm ?? body.errors[0].extensions.authCode);
      }
      expect(answers).toEqual(['acme', REFUSED, REFUSED, 'acme']);
    });

    it.each([
      ['visitor(realm: "acme") other: visitor(realm: "globex")', null],
      ['other: visitor(realm: "globex") visitor(realm: "acme")', null],
      ['other: visitor(realm: "globex")', { other: 'nobody' }],
      ['visitor(realm: "acme") other: visitor(realm: "acme")', { visitor: 'acme', other: 'acme' }],
    ])('no field of an operation receives the caller of a field of another realm: %s', async (fields, data) => {
      await createAlices(app);
      const browser = await browserOf(app);
      const { body } = await browser.call('/graphql', { query: `{ ${fields} }` });
      expect(body.data).toEqual(data);
    });
  });
});

class RealmOfText extends RealmResolver {
  realmOf(call: TransportCall): string | null {
    return call.getArgByIndex<string | null>(1);
  }
}

const texts = { ...tenants({ ...COOKIES, realm: RealmOfText }), ...gatewayOptions(ChatGateway) };

describe('realms of messages that are texts', () => {
  defineSuite('sqlite', texts, ({ app }) => {
    it('no message receives the caller of a message of another realm, and none has a caller once the cookie has expired', async () => {
      await createAlices(app);
      const ask = await connectWs(app, (await browserOf(app)).handshakeFrom(ORIGIN));
      const answers = [await ask('visitor', 'acme'), await ask('visitor', 'globex')];
      app.clock.advance(1000 * SECOND);
      answers.push(await ask('visitor', 'acme'));
      expect(answers).toEqual([[expect.anything(), expect.any(String)], 'error', ['nobody', null]]);
    });
  });
});

@Module({ controllers: [RealmMessages] })
class MessagesModule {}

let port: number;
const messages = {
  ...tenants({ tokenSource: EnvelopeTokens }),
  imports: [MessagesModule],
  configure: async (nest: NestExpressApplication) => {
    port = await freePort();
    nest.connectMicroservice({ transport: Transport.TCP, options: { port } } satisfies MicroserviceOptions, {
      inheritAppConfig: true,
    });
    await nest.startAllMicroservices();
  },
};

describeOnEachDatabase('realms over microservices', messages, ({ app }) => {
  it('the realm is compared on each message, whatever realm a TokenSource names', async () => {
    await createAlices(app);
    const { accessToken } = await app.auth.login(ALICE, { realm: 'acme' });
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { port } });
    const ask = (realm: string | null): Promise<unknown> =>
      firstValueFrom(client.send<unknown>('realm', { accessToken, realm })).catch(
        (error: { code: string }) => error.code,
      );
    const answers = [];
    for (const realm of REALMS) answers.push(await ask(realm));
    client.close();
    expect(answers).toEqual(['acme', REFUSED, REFUSED, 'acme']);
  });

  it('a check of open sockets closes those of a user who was moved to another realm', async () => {
    await createAlices(app);
    const { accessToken } = await app.auth.login(ALICE, { realm: 'acme' });
    const principal = (await app.auth.authenticate(accessToken, { realm: 'acme' }))!;
    const sockets = app.nest.get(OpenSockets);
    const close = jest.fn();
    sockets.register(principal, close);
    expect(await sockets.check()).toBe(0);
    await app.dataSource.getRepository(Member).update({ tenant: 'acme' }, { tenant: 'initech' });
    // The lookup at the registration can be the first that finds the move.
    await sockets.check();
    expect(close).toHaveBeenCalledTimes(1);
  });
});
