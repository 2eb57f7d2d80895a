import { applyDecorators, Controller, Get, Post, Req, type Type } from '@nestjs/common';
import { ClientProxyFactory, type ClientProxy, MessagePattern, Transport } from '@nestjs/microservices';
import { Field, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { type AuthPrincipal, CurrentPrincipal, OptionalAuth, Public, RequireRoles } from 'nestjs-session-auth';
import { FormerTokens, rememberHandshake, type StoredUser, TokenSource, UserStore } from 'nestjs-session-auth';
import type { Handshake, PresentedToken, TransportCall } from 'nestjs-session-auth';
import type { ColumnOptions } from 'typeorm';
import { firstValueFrom } from 'rxjs';
import { freePort } from '../support/port';
import { rulesOf } from '../../libs/auth/src/http/route-rules';
import { DATABASES, DIALECTS } from '../support/databases';
import { describeApplication, describeHttp } from '../support/environment';
import { apollo } from '../support/graphql-connection';
import { entityOf, GENERATED_ID, mappedUsers, storedUsers, UNIQUE_TEXT } from '../support/mapped-users';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { TestApplication } from '../support/test-application';
import { connectWs } from './transports/chat';

const Member = entityOf('members', {
  id: GENERATED_ID,
  email: UNIQUE_TEXT,
  password: { type: 'varchar' },
  roles: { type: 'simple-array', nullable: true },
});
const MAPPING = { entity: Member, username: 'email', passwordHash: 'password', roles: 'roles' };
const REFUSED = { detail: 'You do not have the required role.', code: 'insufficient_role' };

@Controller('admin')
@RequireRoles('admin', 'support')
class AdminController {
  @Get()
  either(@CurrentPrincipal() { roles }: AuthPrincipal, @Req() { user }: { user: { roles: string[] } }): object {
    const replace = (): void => void user.roles.push('owner');
    expect(replace).toThrow(TypeError);
    user.roles = ['owner'];
    return roles;
  }

  @Get('both')
  @RequireRoles('admin')
  both(): void {}

  @Post('body')
  @RequireRoles('constructor', '__proto__', 'owner')
  body(): void {}
}

@Controller('derived')
class DerivedController extends AdminController {}

@Controller('open')
class OpenController {
  @Get('handler')
  @RequireRoles('admin')
  handler(): void {}
}

const members = mappedUsers(MAPPING, {}, ['alice']);
const setRoles = (app: TestApplication, roles: string[] | null): Promise<unknown> =>
  app.dataSource.getRepository(Member).update({ email: 'alice' }, { roles: roles as never });

describe.each([false, true])('with globalGuard: %s', (globalGuard) => {
  const controllers = [AdminController, DerivedController, OpenController];
  const options = { ...members, auth: { ...members.auth, globalGuard }, controllers };

  describeHttp('@RequireRoles()', options, ({ app }) => {
    const statuses = async (token: string): Promise<number[]> => {
      const paths = ['/admin', '/admin/both', '/derived', '/derived/both', '/open/handler'];
      return Promise.all(paths.map(async (path) => (await app.get(path, token)).status));
    };

    it('a route admits users with one role of each list, from the next request on', async () => {
      const { access_token: token } = await app.login();
      await app.http.get('/admin').expect(401);
      await app.get('/admin', token).expect(403, REFUSED);
      expect(await statuses(token)).toEqual([403, 403, 403, 403, 403]);
      await setRoles(app, ['reader', 'support']);
      expect(await statuses(token)).toEqual([200, 403, 200, 403, 403]);
      await app.get('/admin', token).expect(200, ['reader', 'support']);
      await setRoles(app, ['admin']);
      expect(await statuses(token)).toEqual([200, 200, 200, 200, 200]);
      await setRoles(app, ['adm', 'Admin', ' admin']);
      expect(await statuses(token)).toEqual([403, 403, 403, 403, 403]);
    });

    it('roles of a request, and the names of object properties, are no roles of the user', async () => {
      await setRoles(app, ['support']);
      const { access_token: token } = await app.login();
      const roles = ['admin', 'owner'];
      const body = { roles, user: { roles }, auth: { roles } };
      await app.get('/admin/both?roles=admin&user[roles]=admin', token).set('X-Roles', 'admin').expect(403, REFUSED);
      await app.post('/admin/body', token, body).expect(403, REFUSED);
      await app.get('/admin', token).expect(200, ['support']);
    });
  });
});

/** The columns that can contain roles, with the stored value of the roles `admin` and `support`, or of one of them. */
const COLUMNS: readonly [name: string, dialects: RegExp, column: ColumnOptions, value: unknown, roles: string[]][] = [
  ['a text', /./, { type: 'varchar' }, 'admin', ['admin']],
  ['an empty text', /./, { type: 'varchar' }, '', []],
  ['JSON with a list', /./, { type: 'simple-json' }, ['admin', 'support'], ['admin', 'support']],
  ['JSON with a text', /./, { type: 'simple-json' }, 'admin', ['admin']],
  ['JSON with an object', /./, { type: 'simple-json' }, { admin: true }, []],
  ['JSON with a nested list', /./, { type: 'simple-json' }, [['admin']], []],
  ['a column of JSON', /postgres|mysql/, { type: 'json' }, ['admin', 'support'], ['admin', 'support']],
  ['jsonb', /postgres/, { type: 'jsonb' }, ['admin'], ['admin']],
  ['an array', /postgres/, { type: 'varchar', array: true }, ['admin', 'support'], ['admin', 'support']],
  ['an array of an enum', /postgres/, { type: 'enum', enum: ['admin', 'b'], array: true }, ['admin'], ['admin']],
  ['an enum', /postgres|mysql/, { type: 'enum', enum: ['admin', 'b'] }, 'admin', ['admin']],
];
const ON_DATABASES = DATABASES.flatMap((database) =>
  COLUMNS.filter(([, dialects]) => dialects.test(DIALECTS[database])).map(
    ([name, , column, value, roles]) => [name, database, column, value, roles] as const,
  ),
);

it.each(ON_DATABASES)(
  'principal.roles is a list if the column contains %s on %s',
  async (_, database, column, value, roles) => {
    const entity = entityOf('people', {
      id: GENERATED_ID,
      email: UNIQUE_TEXT,
      password: { type: 'varchar' },
      level: { ...column, nullable: true },
    });
    const users = { entity, username: 'email', passwordHash: 'password', roles: 'level' };
    const app = await startForTest(database, mappedUsers(users, {}, ['alice']));
    const { access_token: token } = await app.login();
    expect((await app.auth.authenticate(token))!.roles).toEqual([]);
    await app.dataSource.getRepository(entity).update({ email: 'alice' }, { level: value as never });
    expect((await app.auth.authenticate(token))!.roles).toEqual(roles);
  },
);

it('without `users.roles`, a column `roles` of `users.select` gives no role', async () => {
  const mapping = { entity: Member, username: 'email', passwordHash: 'password', select: ['roles'] };
  const options = mappedUsers(mapping, {}, ['alice']);
  const app = await startForTest('sqlite', { ...options, controllers: [AdminController] });
  await setRoles(app, ['admin']);
  await app.get('/admin', (await app.login()).access_token).expect(403, REFUSED);
});

it('a route with a requirement is guarded, also if the check at startup does not find its contradictory decorators', () => {
  @RequireRoles('admin')
  class Provided {
    @Public()
    open(): void {}

    @OptionalAuth()
    optional(): void {}
  }
  for (const handler of [Provided.prototype.open, Provided.prototype.optional]) {
    const rules = rulesOf({ getHandler: () => handler, getClass: <T>() => Provided as Type<T> });
    expect(rules).toMatchObject({ isPublic: false, isOptional: false, requiredRoles: [['admin']] });
  }
});

class DirectoryUsers extends UserStore {
  roles: unknown = ['support'];

  findByUsername(username: string): Promise<StoredUser> {
    return this.findById(username);
  }

  findById(id: unknown): Promise<StoredUser> {
    const user = { id: String(id), username: String(id), passwordHash: null, active: true };
    return Promise.resolve({ ...user, roles: this.roles } as StoredUser);
  }
}

class TestTokens extends FormerTokens {
  verify(token: string): { userId: string; issuedAt: Date } | null {
    return token === 'former' ? { userId: 'bob', issuedAt: new Date() } : null;
  }
}

const directory = new DirectoryUsers();
const external = storedUsers(directory);
const withStore = {
  ...external,
  auth: { ...external.auth, formerTokens: TestTokens },
  controllers: [AdminController],
};

describeHttp('@RequireRoles() with a UserStore', withStore, ({ app }) => {
  it('the roles are those that the store returns, also for former tokens', async () => {
    directory.roles = ['support'];
    const { accessToken } = await app.auth.openSession('alice');
    for (const token of [accessToken, 'former']) {
      directory.roles = ['support'];
      await app.get('/admin', token).expect(200, ['support']);
      await app.get('/admin/both', token).expect(403, REFUSED);
      directory.roles = undefined;
      await app.get('/admin', token).expect(403, REFUSED);
      for (const roles of ['support', [7], { support: true }]) {
        directory.roles = roles;
        await app.get('/admin', token).expect(503);
      }
    }
  });
});

@Resolver()
class AdminResolver {
  @Query(() => String)
  @RequireRoles('admin')
  secret(): string {
    return 'gold';
  }
}

@WebSocketGateway()
class AdminGateway {
  handleConnection(client: object, request: Handshake): void {
    rememberHandshake(client, request);
  }

  @SubscribeMessage('secret')
  @RequireRoles('admin')
  secret(): object {
    return { event: 'secret', data: 'gold' };
  }
}

@Controller()
class MessagesController {
  @MessagePattern('secret')
  @RequireRoles('admin')
  secret(): string {
    return 'gold';
  }
}

/** Finds the token in the payload of a message. */
class EnvelopeTokens extends TokenSource {
  find(call: TransportCall): PresentedToken | null {
    return call.getType() === 'rpc' ? call.getArgByIndex<PresentedToken>(0) : null;
  }
}

let client: ClientProxy;

const onAllTransports = {
  ...members,
  auth: { ...members.auth, globalGuard: true, tokenSource: EnvelopeTokens },
  controllers: [MessagesController],
  providers: [AdminResolver, AdminGateway] as Type[],
  imports: [apollo()],
  configure: async (nest: TestApplication['nest']) => {
    nest.useWebSocketAdapter(new WsAdapter(nest));
    const server = { transport: Transport.TCP, options: { host: '127.0.0.1', port: await freePort() } } as const;
    nest.connectMicroservice(server, { inheritAppConfig: true });
    await nest.startAllMicroservices();
    client = ClientProxyFactory.create(server);
  },
};

describeApplication('@RequireRoles() over other transports', onAllTransports, ({ app }) => {
  afterAll(() => client.close());

  it('GraphQL fields, messages of sockets and messages of microservices admit only users with the role', async () => {
    const { access_token: accessToken } = await app.login();
    const socket = await connectWs(app, { authorization: `Bearer ${accessToken}` });
    const answers = async (): Promise<unknown[]> => {
      const { body } = await app.post('/graphql', accessToken, { query: '{ secret }' });
      const { data, errors } = body as { data: { secret: string } | null; errors?: { extensions: object }[] };
      const payload = { accessToken, roles: ['admin'], user: { roles: ['admin'] } };
      const sent = firstValueFrom(client.send<unknown>('secret', payload)).catch((error: unknown) => error);
      return [errors?.[0]?.extensions ?? data, await socket('secret', payload), await sent];
    };
    const { detail: message, code } = REFUSED;
    const refused = [{ code: 'FORBIDDEN', authCode: code }, code, { status: 'error', code, message }];
    expect(await answers()).toMatchObject(refused);
    await setRoles(app, ['admin']);
    expect(await answers()).toEqual([{ secret: 'gold' }, 'gold', 'gold']);
  });
});

it.each<[string, Type[]]>([
  ['Both', [controllerWith('Both', [RequireRoles('admin'), OptionalAuth()], [])]],
  ['Restricted.open', [controllerWith('Restricted', [RequireRoles('admin')], [Public()])]],
  ['Restricted.open', [controllerWith('Restricted', [RequireRoles('admin')], [OptionalAuth()])]],
])('@Public() and @OptionalAuth() beside or beneath @RequireRoles() prevent startup: %s', async (name, controllers) => {
  const database = await databaseForTest('sqlite');
  const error = await TestApplication.startError({ database, controllers });
  expect(error).toContain('beneath `@RequireRecentLogin()` or `@RequireRoles()` on the class: ' + name);
});

@ObjectType()
class Employee {
  @Field(() => String) name = 'alice';
}

@Resolver(() => Employee)
class EmployeeResolver {
  @Query(() => Employee)
  employee(): Employee {
    return new Employee();
  }

  @ResolveField(() => String)
  @RequireRoles('admin')
  salary(): string {
    return 'gold';
  }
}

it('@RequireRoles() on a GraphQL field, whose guards Nest ignores by default, prevents startup or protects the field', async () => {
  const database = await databaseForTest('sqlite');
  const error = await TestApplication.startError({ database, providers: [EmployeeResolver], imports: [apollo()] });
  expect(error).toContain("EmployeeResolver.salary. Set fieldResolverEnhancers: ['guards']");
  const imports = [apollo({ fieldResolverEnhancers: ['guards'] })];
  const app = await startForTest('sqlite', { ...members, providers: [EmployeeResolver], imports });
  const { access_token: token } = await app.login();
  const { body } = await app.post('/graphql', token, { query: '{ employee { name salary } }' });
  expect(body).toMatchObject({ errors: [{ extensions: { authCode: 'insufficient_role' } }] });
});

it('@RequireRoles() needs the name of a role', () => {
  for (const roles of [[], [''], [['admin']]]) {
    expect(() => RequireRoles(...(roles as string[]))).toThrow('@RequireRoles() received [');
  }
});

function controllerWith(name: string, onClass: ClassDecorator[], onHandler: MethodDecorator[]): Type {
  const { [name]: type } = {
    [name]: class {
      open(): void {}
    },
  };
  const descriptor = Object.getOwnPropertyDescriptor(type!.prototype, 'open')!;
  applyDecorators(Get(), ...onHandler)(type!.prototype, 'open', descriptor);
  applyDecorators(Controller(name), ...onClass)(type!);
  return type!;
}
