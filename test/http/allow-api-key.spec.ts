import { once } from 'node:events';
import { get } from 'node:http';
import { Controller, Get, Next, Post, Req, Sse, UseGuards } from '@nestjs/common';
import { Query, ResolveField, Resolver, Subscription } from '@nestjs/graphql';
import { ClientProxyFactory, type ClientProxy, MessagePattern, Transport } from '@nestjs/microservices';

import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { firstValueFrom, NEVER, startWith } from 'rxjs';
import type { WebSocket } from 'ws';
import {
  AllowApiKey,
  ApiKeys,
  type AuthPrincipal,
  type AuthRequest,
  BearerAuthGuard,
  CurrentPrincipal,
  CurrentSession,
  CurrentUser,
  type ExternalPrincipal,
  type Handshake,
  OpenSockets,
  OptionalAuth,
  type PresentedToken,
  Public,
  rememberHandshake,
  RequireRecentLogin,
  RequireRoles,
  SessionAdministration,
  socketAccessToken,
  TokenSource,
  type TransportCall,
} from 'nestjs-session-auth';
import { freePort } from '../support/port';
import { createKey } from '../support/api-keys';
import { describeApplication, describeHttp, userIdOf } from '../support/environment';
import { GraphqlConnection, mercurius } from '../support/graphql-connection';
import { entityOf, GENERATED_ID, mappedUsers, UNIQUE_TEXT } from '../support/mapped-users';
import { createAlices, Member, tenants } from '../support/realms';
import { applicationStarter } from '../support/start-for-test';
import { PASSWORD, TestApplication } from '../support/test-application';
import { connectWs, gatewayOptions, openWs } from './transports/chat';

const INVALID = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };
const NOT_ALLOWED = { detail: 'This call does not accept API keys.', code: 'api_key_not_allowed' };
const SCOPE_MISSING = { detail: 'The API key does not have the required scope.', code: 'insufficient_scope' };
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

type Principal = AuthPrincipal | ExternalPrincipal;

@Controller('orders')
class OrdersController {
  constructor(private readonly keys: ApiKeys) {}

  @Get()
  @AllowApiKey('orders:read')
  orders(@CurrentPrincipal() principal: Principal, @Req() { auth, user }: AuthRequest & { user?: object }): object {
    return { principal, user, isSame: auth === principal };
  }

  @Get('both')
  @AllowApiKey('orders:read')
  @AllowApiKey('orders:write')
  both(): void {}

  @Get('user')
  @AllowApiKey('orders:read')
  user(@CurrentUser() { username }: { username: string }): object {
    return { username };
  }

  @Get('guarded')
  @UseGuards(BearerAuthGuard)
  guarded(): void {}

  @Get('optional')
  @OptionalAuth()
  optional(): void {}

  @Get('optional/keys')
  @OptionalAuth()
  @AllowApiKey('orders:read')
  optionalKeys(@CurrentPrincipal() principal: Principal | null): object {
    return { userId: principal?.userId ?? null };
  }

  @Get('public')
  @Public()
  public(@Req() { auth }: AuthRequest): object {
    return { auth: auth ?? null };
  }

  @Get('recent')
  @RequireRecentLogin({ withinSeconds: 600 })
  @AllowApiKey('orders:read')
  recent(): void {}

  @Get('admin')
  @RequireRoles('admin')
  @AllowApiKey('orders:read')
  admin(): void {}

  @Get('session')
  @AllowApiKey('orders:read')
  session(@CurrentSession() session: object): object {
    return session;
  }

  @Post('keys')
  @AllowApiKey('orders:read')
  create(@CurrentPrincipal() principal: AuthPrincipal): Promise<object> {
    return this.keys.create(principal, { name: 'child', scopes: ['orders:read', 'admin'] });
  }

  @Sse('stream')
  @AllowApiKey('orders:read')
  stream() {
    return NEVER.pipe(startWith({ data: 'first' }));
  }
}

@Controller('class')
@AllowApiKey('orders:read')
class ClassController {
  @Get()
  inherited(): void {}

  @Get('write')
  @AllowApiKey('orders:write')
  write(): void {}

  @Get('open')
  @Public()
  open(): void {}

  @Get('optional')
  @OptionalAuth()
  optional(): void {}
}

@Controller('derived')
class DerivedController extends ClassController {}

const controllers = [OrdersController, ClassController, DerivedController];

/** Reads the token of an HTTP request from `X-Key`, and that of a message from its payload. */
class KeyTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    const [first] = [call.getArgByIndex<{ key?: string } & Partial<AuthRequest>>(0)];
    const accessToken = call.getType() === 'http' ? first.headers!['x-key'] : first.key;
    return typeof accessToken === 'string' ? { accessToken } : null;
  }
}

describeHttp('API keys', { controllers, auth: { endpoints: { reauthenticate: true } } }, (env) => {
  it('a route with @AllowApiKey() admits a key that has all scopes, with the user but without a session', async () => {
    const { app } = env;
    const userId = await userIdOf(app);
    const { key, id } = await createKey(app);
    const principal = { userId, roles: [], realm: null, apiKey: { id, name: 'export', scopes: ['orders:read'] } };
    const user = { id: userId, username: 'alice', roles: [] };
    const { body } = await app.get('/orders', key).expect(200);
    expect(body).toEqual({ principal, user: expect.objectContaining({ id: userId }) as object, isSame: true });
    expect(user).toMatchObject(body.user as object);
    await app.get('/orders/user', key).expect(200, { username: 'alice' });
    await app.get('/orders/both', key).expect(403, SCOPE_MISSING);
    await app.get('/orders/both', (await createKey(app, { scopes: ['orders:write'] })).key).expect(403, SCOPE_MISSING);
    const both = await createKey(app, { scopes: ['orders:write', 'orders:read'] });
    await app.get('/orders/both', both.key).expect(200);
    const { access_token } = await app.login();
    await app.get('/orders/both', access_token).expect(200);
  });

  it('the decorator of a handler replaces that of its class, which subclasses do not inherit', async () => {
    const { app } = env;
    const [reader, writer] = [await createKey(app), await createKey(app, { scopes: ['orders:write'] })];
    const paths = ['class', 'class/write', 'class/open', 'class/optional', 'derived', 'derived/write', 'derived/open'];
    const statuses = ({ key }: { key: string }) =>
      Promise.all(paths.map(async (path) => (await app.get(`/${path}`, key)).status));
    expect(await statuses(reader)).toEqual([200, 403, 200, 200, 403, 403, 200]);
    expect(await statuses(writer)).toEqual([403, 200, 200, 403, 403, 200, 200]);
  });

  it.each(['/orders/guarded', '/orders/optional', '/me', '/derived'])(
    '%s, which has no @AllowApiKey(), refuses a key, and an invalid one as an invalid token',
    async (path) => {
      const { app } = env;
      const { key, id } = await createKey(app);
      await app.get(path, key).expect(403, NOT_ALLOWED);
      await app.nest.get(ApiKeys).revoke(await userIdOf(app), id);
      await app.get(path, key).expect(401, INVALID);
    },
  );

  it('every route of the library refuses a key, and public routes do not read it', async () => {
    const { app } = env;
    const { key } = await createKey(app);
    const { session_id } = await app.login();
    for (const path of ['sessions', 'history']) await app.get(`/auth/${path}`, key).expect(403, NOT_ALLOWED);
    const passwords = { current_password: PASSWORD, new_password: 'a new and better password' };
    for (const path of ['logout', 'logout/all', 'password/change', 'reauthenticate'])
      await app.post(`/auth/${path}`, key, { ...passwords, password: PASSWORD }).expect(403, NOT_ALLOWED);
    await app.delete(`/auth/sessions/${session_id}`, key).expect(403, NOT_ALLOWED);
    await app.post('/auth/login', key, { username: 'alice', password: PASSWORD }).expect(200);
    await app.post('/auth/token/refresh', key, { refresh_token: key }).expect(400);
    await app.get('/orders/public', key).expect(200, { auth: null });
  });

  it('a key proves no recent login, has no session, creates no key, and has only the roles of its user', async () => {
    const { app } = env;
    const { key } = await createKey(app);
    const required = { detail: 'This call requires a session.', code: 'session_required' };
    await app.get('/orders/recent', key).expect(403, /recent_login_required/);
    await app.get('/orders/session', key).expect(403, required);
    await app.post('/orders/keys', key).expect(403, required);
    await app.get('/orders/admin', key).expect(403, /insufficient_role/);
    expect(await app.auth.authenticate(key)).toBeNull();
  });

  it('a key is read from the Authorization header only, and a corrupted one is an invalid token', async () => {
    const { app } = env;
    const { key } = await createKey(app);
    const missing = { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' };
    const Cookie = ['auth_access', '__Host-auth_access', 'key'].map((name) => `${name}=${key}`).join('; ');
    await app.http
      .get(`/orders?access_token=${key}&key=${key}`)
      .set('Cookie', Cookie)
      .set('X-Key', key)
      .expect(401, missing);
    for (const token of [key.slice(0, -1), `${key}x`, key.toLowerCase(), key.replace('nsak', 'nsaa'), `x${key}`])
      await app.get('/orders', token).expect(401, INVALID);
    await app.get('/orders/optional/keys', key).expect(200, { userId: await userIdOf(app) });
    await app.http.get('/orders/optional/keys').expect(200, { userId: null });
    await app.get('/orders/optional/keys', `${key}x`).expect(401, INVALID);
  });

  it('a stream of server-sent events ends when its key is revoked', async () => {
    const { app } = env;
    const { key, id } = await createKey(app);
    const [response] = (await once(get(`${app.url}/orders/stream`, { headers: bearer(key) }), 'response')) as [
      NodeJS.ReadableStream,
    ];
    await once(response, 'data');
    const closed = new Promise((resolve) => response.once('close', resolve).once('error', resolve).resume());
    await app.nest.get(ApiKeys).revoke(await userIdOf(app), id);
    await closed;
  });
});

const start = applicationStarter({ controllers });

describe.each(['optional', 'only'] as const)('API keys with cookies.mode: %s', (mode) => {
  it('a key in the access cookie is invalid, and one in the Authorization header wins over cookies', async () => {
    const app = await start({ auth: { cookies: { mode } } });
    const { key } = await createKey(app);
    const cookie = `__Host-auth_access=${key}`;
    await app.http.get('/orders').set('Cookie', cookie).expect(401, INVALID);
    await app.http.get('/orders/optional/keys').set('Cookie', cookie).expect(200, { userId: null });
    await app.get('/orders', key).set('Cookie', cookie).expect(200);
    expect(() => socketAccessToken({ headers: {} })).toThrow('Authentication credentials were not provided.');
  });
});

it('a handler that passes its request on to another handler does not lend its scopes to that handler', async () => {
  @Controller('passed-on')
  class First {
    @Get('*path')
    @AllowApiKey('orders:read')
    pass(@Next() next: () => void): void {
      next();
    }
  }
  @Controller('passed-on')
  class Second {
    @Get('write')
    @AllowApiKey('orders:write')
    write(): void {}

    @Get('guarded')
    @UseGuards(BearerAuthGuard)
    guarded(): void {}

    @Get('read')
    @AllowApiKey('orders:read')
    read(): void {}
  }
  const app = await start({ controllers: [First, Second] });
  const { key } = await createKey(app);
  await app.get('/passed-on/write', key).expect(403, SCOPE_MISSING);
  await app.get('/passed-on/guarded', key).expect(403, NOT_ALLOWED);
  await app.get('/passed-on/read', key).expect(200);
});

it('a token source can find a key, but not in a cookie', async () => {
  const app = await start({ auth: { tokenSource: KeyTokens } });
  const { key } = await createKey(app);
  await app.http.get('/orders').set('X-Key', key).expect(200);
  await app.http
    .get('/orders')
    .set('X-Key', key)
    .set('Cookie', `a=${key}`)
    .set('Sec-Fetch-Site', 'none')
    .expect(401, INVALID);
});

it('a key has the roles of its user at each call', async () => {
  const Member = entityOf('keyholders', {
    id: GENERATED_ID,
    email: UNIQUE_TEXT,
    password: { type: 'varchar' },
    roles: { type: 'simple-array', nullable: true },
  });
  const mapping = { entity: Member, username: 'email', passwordHash: 'password', roles: 'roles' };
  const app = await start(mappedUsers(mapping, {}, ['alice']));
  const given = { name: 'export', scopes: ['orders:read'] };
  const { key } = await app.nest.get(SessionAdministration).createApiKey(1, given, { actor: 'root' });
  await app.get('/orders/admin', key).expect(403);
  await app.dataSource.getRepository(Member).update({ email: 'alice' }, { roles: ['admin'] as never });
  await app.get('/orders/admin', key).expect(200);
  expect((await app.get('/orders', key)).body.principal).toMatchObject({ userId: 1, roles: ['admin'] });
});

it('a key of another realm is invalid, also after its user has moved, and changes nothing', async () => {
  const app = await start(tenants());
  const [acme] = await createAlices(app);
  const administration = app.nest.get(SessionAdministration);
  const { key } = await administration.createApiKey(acme!, { name: 'a', scopes: ['orders:read'] }, { actor: 'root' });
  const call = (realm?: string) => app.get('/orders', key).set(realm === undefined ? {} : { 'X-Realm': realm });
  expect((await call('acme').expect(200)).body.principal).toMatchObject({ userId: acme, realm: 'acme' });
  const keys = app.nest.get(ApiKeys);
  expect(await keys.authenticate(key, ['orders:read'], { realm: 'acme' })).toMatchObject({ realm: 'acme' });
  await app.dataSource.getRepository(Member).update({ id: acme! }, { active: false });
  for (const realm of ['globex', undefined, 'failure']) await call(realm).expect(401, INVALID);
  await app.dataSource.getRepository(Member).update({ id: acme! }, { active: true });
  await call('acme').expect(200);
  await app.dataSource.getRepository(Member).update({ id: acme! }, { tenant: 'globex', email: 'moved' });
  for (const realm of ['acme', 'globex']) await call(realm).expect(401, INVALID);
  expect(await keys.list(acme!)).toHaveLength(1);
});

it('@AllowApiKey() beside @Public(), or on a field whose guards Nest ignores, prevents the start', async () => {
  @Controller()
  class Contradictory {
    @Get()
    @Public()
    @AllowApiKey('a')
    both(): void {}
  }
  await expect(start({ controllers: [Contradictory] })).rejects.toThrow('Contradictory.both');

  @Resolver('Thing')
  class ThingResolver {
    @ResolveField()
    @AllowApiKey('a')
    secret(): void {}
  }
  const imports = [mercurius({ typeDefs: 'type Query { a: Int } type Thing { secret: Int }', autoSchemaFile: false })];
  await expect(start({ platform: 'fastify', imports, providers: [ThingResolver] })).rejects.toThrow(
    'ThingResolver.secret',
  );
});

@Resolver()
class OrdersResolver {
  @Query(() => String)
  @AllowApiKey('orders:read')
  allowed(@CurrentUser() { username }: { username: string }): string {
    return username;
  }

  @Query(() => String, { nullable: true })
  @UseGuards(BearerAuthGuard)
  refused(): string {
    return 'refused';
  }

  @Query(() => String, { nullable: true })
  unguarded(@CurrentUser() { username }: { username: string }): string {
    return username;
  }

  @Subscription(() => String, { resolve: (text: string) => text })
  @AllowApiKey('orders:read')
  async *ticks(): AsyncGenerator<string> {
    yield 'tick';
    await new Promise(() => undefined);
  }
}

const graphql = {
  platform: 'fastify' as const,
  imports: [mercurius({ subscription: true })],
  providers: [OrdersResolver],
};

describeApplication('API keys over GraphQL', graphql, (env) => {
  it('only queries with @AllowApiKey() know the caller of a key', async () => {
    const { app } = env;
    const { key } = await createKey(app);
    const ask = async (query: string) => (await app.post('/graphql', key, { query })).body;
    expect(await ask('{ allowed again: allowed }')).toEqual({ data: { allowed: 'alice', again: 'alice' } });
    const { data, errors } = await ask('{ refused unguarded }');
    expect(data).toEqual({ refused: null, unguarded: null });
    const extensions = { code: 'FORBIDDEN', authCode: 'api_key_not_allowed' };
    expect(errors).toContainEqual(expect.objectContaining({ path: ['refused'], extensions }));
    expect(errors).toContainEqual(expect.objectContaining({ path: ['unguarded'] }));
  });

  it('a subscription is closed when its key is revoked, but not when another key is', async () => {
    const { app } = env;
    const [{ key, id }, other] = [await createKey(app), await createKey(app)];
    const subscriber = await GraphqlConnection.open(app, bearer(key));
    await subscriber.subscribe('subscription { ticks }');
    await app.nest.get(ApiKeys).revoke(await userIdOf(app), other.id);
    expect(subscriber.closedWith).toBeNull();
    await app.nest.get(ApiKeys).revoke(await userIdOf(app), id);
    await subscriber.until(() => subscriber.closedWith !== null);
  });
});

@WebSocketGateway()
class OrdersGateway {
  constructor(
    private readonly keys: ApiKeys,
    private readonly sockets: OpenSockets,
  ) {}

  handleConnection(client: object, request: Handshake): void {
    rememberHandshake(client, request);
  }

  @SubscribeMessage('allowed')
  @AllowApiKey('orders:read')
  allowed(@CurrentPrincipal() { apiKey }: ExternalPrincipal): object {
    return { event: 'allowed', data: apiKey?.name };
  }

  @SubscribeMessage('refused')
  @UseGuards(BearerAuthGuard)
  refused(): void {}

  /** Authenticates the handshake, and registers the socket. */
  @SubscribeMessage('open')
  async open(client: WebSocket): Promise<object> {
    const { accessToken } = socketAccessToken(client);
    const principal = await this.keys.authenticate(accessToken, ['orders:read']);
    client.on(
      'close',
      this.sockets.register(principal, () => client.close(4401)),
    );
    return { event: 'open', data: 'opened' };
  }
}

describeApplication('API keys in gateways', gatewayOptions(OrdersGateway), (env) => {
  it('only messages with @AllowApiKey() accept the key of the handshake, and each message checks it', async () => {
    const { app } = env;
    const { key, id } = await createKey(app);
    const ask = await connectWs(app, bearer(key));
    expect([await ask('allowed'), await ask('refused')]).toEqual(['export', 'api_key_not_allowed']);
    await app.nest.get(ApiKeys).revoke(await userIdOf(app), id);
    expect(await ask('allowed')).toBe('access_token_invalid');
  });

  const ends: [string, (app: TestApplication, id: string) => Promise<unknown>][] = [
    ['its key is revoked', async (app, id) => app.nest.get(ApiKeys).revoke(await userIdOf(app), id)],
    ['its user is disabled', async (app) => app.auth.disableUser(await userIdOf(app))],
    ['the password is reset', async (app) => app.auth.resetPassword(await userIdOf(app), PASSWORD)],
    ['its user is forgotten', async (app) => app.auth.forgetUser(await userIdOf(app))],
    [
      'a refresh token is reused',
      async (app) => {
        const { refresh_token: token } = await app.login();
        await app.refresh(token).expect(200);
        await app.refresh(token).expect(400);
      },
    ],
    [
      'the key of the user is used while the user is disabled in the table',
      async (app) => {
        await app.dataSource.query(`UPDATE auth_users SET active = false WHERE username = 'alice'`);
        await app.nest.get(OpenSockets).check();
      },
    ],
    [
      'another instance has revoked its key, at the next check',
      async (app, id) => {
        await app.dataSource.query(`DELETE FROM auth_api_keys WHERE id = '${id}'`);
        await app.nest.get(OpenSockets).check();
      },
    ],
  ];

  it.each(ends)('a socket is closed when %s', async (_, end) => {
    const { app } = env;
    await app.auth.enableUser(await userIdOf(app));
    const { key, id } = await createKey(app);
    const open = async (own: string): Promise<WebSocket> => {
      const socket = openWs(app, bearer(own));
      await once(socket, 'open');
      socket.send('{"event":"open"}');
      await once(socket, 'message');
      return socket;
    };
    const [alice, bob] = [await open(key), await open((await createKey(app, {}, 'bob')).key)];
    const closed = once(alice, 'close');
    await end(app, id);
    expect((await closed)[0]).toBe(4401);
    expect(bob.readyState).toBe(bob.OPEN);
  });

  it('a socket is closed at once if its key ended before the socket was registered', async () => {
    const { app } = env;
    await app.auth.enableUser(await userIdOf(app));
    const { key, id } = await createKey(app);
    const principal = await app.nest.get(ApiKeys).authenticate(key, ['orders:read']);
    await app.nest.get(ApiKeys).revoke(principal, id);
    await new Promise((resolve) => app.nest.get(OpenSockets).register(principal, () => resolve(null)));
  });
});

@Controller()
class MessagesController {
  @MessagePattern('allowed')
  @AllowApiKey('orders:read')
  allowed(@CurrentPrincipal() { apiKey }: ExternalPrincipal): unknown {
    return apiKey?.scopes;
  }

  @MessagePattern('refused')
  @UseGuards(BearerAuthGuard)
  refused(): void {}
}

let client: ClientProxy;
const tcp = {
  auth: { tokenSource: KeyTokens },
  controllers: [MessagesController],
  configure: async (nest: TestApplication['nest']) => {
    const options = { host: '127.0.0.1', port: await freePort() };
    nest.connectMicroservice({ transport: Transport.TCP, options }, { inheritAppConfig: true });
    await nest.startAllMicroservices();
    client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  },
};

describeApplication('API keys in messages of microservices', tcp, (env) => {
  afterAll(() => client.close());

  it('only handlers with @AllowApiKey() accept the key that the token source finds', async () => {
    const { key } = await createKey(env.app);
    const send = (pattern: string, data: object): Promise<unknown> =>
      firstValueFrom(client.send<unknown>(pattern, data)).catch(({ code }: { code: string }) => code);
    expect(await send('allowed', { key })).toEqual(['orders:read']);
    expect(await send('refused', { key })).toBe('api_key_not_allowed');
    expect(await send('allowed', {})).toBe('credentials_missing');
  });
});
