import { Controller, Get, Module, Next, UseGuards } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, MessagePattern, Transport, type MicroserviceOptions } from '@nestjs/microservices';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import {
  type AuthPrincipal,
  BearerAuthGuard,
  CurrentPrincipal,
  OpenSockets,
  type PresentedToken,
  RealmResolver,
  TokenSource,
  type TransportCall,
} from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { defineSuite, describeOnEachDatabase } from '../../support/environment';
import { apollo } from '../../support/graphql-connection';
import { freePort } from '../../support/port';
import { ALICE, createAlices, Member, tenants } from '../../support/realms';
import { ChatGateway, connectIo, connectWs, gatewayOptions, type Send } from './chat';

@Resolver()
@UseGuards(BearerAuthGuard)
class RealmResolvers {
  @Query(() => String)
  realm(@CurrentPrincipal() principal: AuthPrincipal): string {
    return principal.realm!;
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

const graphql = { ...tenants(), imports: [apollo()], providers: [RealmResolvers] };

class TenantOfPath extends RealmResolver {
  realmOf(call: TransportCall): string | null {
    return call.getArgByIndex<{ readonly params: { readonly tenant?: string } }>(0).params.tenant ?? null;
  }
}

@Controller()
@UseGuards(BearerAuthGuard)
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

const passOn = { ...tenants({ realm: TenantOfPath }), controllers: [PassOnController] };

defineSuite('sqlite', passOn, ({ app }) => {
  it('the realm is compared again by a handler to which another one passes the request on', async () => {
    await createAlices(app);
    const { accessToken } = await app.auth.login(ALICE, { realm: 'acme' });
    await app.get('/tenants/acme/same', accessToken).expect(200, { realm: 'acme' });
    await app.get('/tenants/acme/other', accessToken).expect(401);
    await app.get('/tenants/globex/same', accessToken).expect(401);
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
