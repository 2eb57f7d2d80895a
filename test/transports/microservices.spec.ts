import { Controller, UseGuards } from '@nestjs/common';
import {
  ClientProxyFactory,
  MessagePattern,
  Payload,
  Transport,
  type ClientProxy,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import {
  AuthService,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  TokenSource,
  type AuthModuleOptions,
  type AuthUser,
  type PresentedToken,
  type SessionInfo,
  type TransportCall,
} from 'nestjs-session-auth';
import { createServer, type AddressInfo } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { createDatabase, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

const MISSING = {
  status: 'error',
  code: 'credentials_missing',
  message: 'Authentication credentials were not provided.',
};
const INVALID = { status: 'error', code: 'access_token_invalid', message: 'Invalid or expired access token.' };

@Controller()
@UseGuards(BearerAuthGuard)
class OrdersController {
  constructor(private readonly auth: AuthService) {}

  @MessagePattern('me')
  me(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { username: user.username, sessionId: session.id };
  }

  @OptionalAuth()
  @MessagePattern('who')
  who(@CurrentUser() user: AuthUser): string {
    return user ? user.username : 'nobody';
  }

  @Public()
  @MessagePattern('open')
  open(@Payload() data: unknown): unknown {
    return data;
  }

  @Public()
  @MessagePattern('login')
  login(@Payload() { username, password }: { username: string; password: string }): Promise<object> {
    return this.auth.login({ username, password });
  }
}

/** Messages between services of this host carry the token of the user they are for. */
class EnvelopeTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    if (call.getType() !== 'rpc') return null;
    const { accessToken } = call.getArgByIndex<{ accessToken?: string } | null>(0) ?? {};
    return accessToken === undefined ? null : { accessToken, client: { userAgent: 'orders' } };
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.each([
  ['of a host that says nowhere where tokens are', {}, false],
  ['of a host that says where tokens are', { tokenSource: EnvelopeTokens }, true],
] satisfies [string, AuthModuleOptions, boolean][])('a message to a microservice, %s,', (_, auth, finds) => {
  let database: TestDatabase;
  let host: Host;
  let client: ClientProxy;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    const options = { host: '127.0.0.1', port: await freePort() };
    host = await Host.start({
      database,
      auth,
      controllers: [OrdersController],
      configure: (app) => {
        app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options }, { inheritAppConfig: true });
        return app.startAllMicroservices();
      },
    });
    client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  });
  afterAll(async () => {
    await client.close();
    await host.close();
    await database.drop();
  });
  beforeEach(() => host.reset());

  const send = (pattern: string, data: unknown): Promise<unknown> =>
    firstValueFrom(client.send<unknown>(pattern, data)).catch((error: unknown) => ({ error }));

  it(finds ? 'knows the user and the session' : 'is refused, whatever stands in it', async () => {
    const { access_token: accessToken, session_id: sessionId } = await host.login();
    const told = await send('me', { accessToken });
    expect(told).toEqual(finds ? { username: 'alice', sessionId } : { error: MISSING });
  });

  it('is refused without a token, and tells no more than that', async () => {
    for (const data of [{}, '', 1, [], true]) expect(await send('me', data)).toEqual({ error: MISSING });
    expect(host.logs.filter((line) => line.includes('RpcExceptionsHandler'))).toEqual([]);
  });

  it('is refused with a token that is over', async () => {
    const { access_token: accessToken } = await host.login();
    await host.post('/auth/logout', accessToken).expect(200);
    expect(await send('me', { accessToken })).toEqual({ error: finds ? INVALID : MISSING });
  });

  it('needs no token for a handler with @OptionalAuth(), and one that is sent must be valid', async () => {
    const { access_token: accessToken } = await host.login();
    expect(await send('who', { accessToken })).toBe(finds ? 'alice' : 'nobody');
    for (const data of [{}, '', 1]) expect(await send('who', data)).toBe('nobody');
    expect(await send('who', { accessToken: 'token' })).toEqual(finds ? { error: INVALID } : 'nobody');
  });

  it('passes to a public handler', async () => {
    expect(await send('open', 'text')).toBe('text');
  });

  it('that the library refuses in a handler of the host is told why, by the filter', async () => {
    const credentials = { username: 'alice', password: 'wrong' };
    const error = { status: 'error', code: 'invalid_credentials', message: 'Invalid credentials.' };
    expect(await send('login', credentials)).toEqual({ error });
  });

  it('is not looked into where it came over HTTP: the header is the one place there', async () => {
    const { access_token: accessToken } = await host.login();
    await host.http.get('/me').send({ accessToken }).expect(401);
    await host.get('/me', accessToken).expect(200);
  });
});

it.each([
  [true, { error: MISSING }],
  [false, 'unguarded'],
])('a global guard stands before messages where the host lets them inherit it (%s)', async (inheritAppConfig, told) => {
  @Controller()
  class PlainController {
    @MessagePattern('plain')
    plain(): string {
      return 'unguarded';
    }
  }
  const database = await createDatabase('sqlite');
  const options = { host: '127.0.0.1', port: await freePort() };
  const host = await Host.start({
    database,
    auth: { globalGuard: true },
    controllers: [PlainController],
    configure: (app) => {
      app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options }, { inheritAppConfig });
      return app.startAllMicroservices();
    },
  });
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  const answer = await firstValueFrom(client.send<unknown>('plain', {})).catch((error: unknown) => ({ error }));
  expect(answer).toEqual(told);
  await client.close();
  await host.close();
  await database.drop();
});
