import { Controller, Get, Post, Req } from '@nestjs/common';
import { Field, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { AllowApiKey, type AuthPrincipal, CurrentPrincipal, FormerTokens, OptionalAuth } from 'nestjs-session-auth';
import { Public, RequireRoles, type StoredUser, UserStore } from 'nestjs-session-auth';
import type { ColumnOptions } from 'typeorm';
import { rulesOf } from '../../libs/auth/src/http/route-rules';
import { DATABASES, DIALECTS } from '../support/databases';
import { describeHttp } from '../support/environment';
import { apollo } from '../support/graphql-connection';
import { controllerOf, GUARD, OfRequest, returning } from '../support/handlers';
import { entityOf, GENERATED_ID, mappedUsers, MEMBERS_WITH_ROLES, MemberWithRoles } from '../support/mapped-users';
import { storedUsers, TEXT, UNIQUE_TEXT } from '../support/mapped-users';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { TestApplication } from '../support/test-application';

const REFUSED = { detail: 'You do not have the required role.', code: 'insufficient_role' };

@Controller('admin')
@RequireRoles('admin', 'support')
class AdminController {
  @Get()
  either(@CurrentPrincipal() { roles }: AuthPrincipal, @Req() { user }: { user: { roles: string[] } }): object {
    expect(() => user.roles.push('owner')).toThrow(TypeError);
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

const members = mappedUsers(MEMBERS_WITH_ROLES, {}, ['alice']);
const setRoles = (app: TestApplication, roles: string[] | null): Promise<unknown> =>
  app.dataSource.getRepository(MemberWithRoles).update({ email: 'alice' }, { roles: roles as never });

describe.each([false, true])('with globalGuard: %s', (globalGuard) => {
  const open = controllerOf('open', [], { handler: [RequireRoles('admin')] });
  const controllers = [AdminController, DerivedController, open];
  const options = { ...members, auth: { ...members.auth, globalGuard }, controllers };

  describeHttp('@RequireRoles()', options, ({ app }) => {
    it('a route admits users with one role of each list, from the next request on', async () => {
      const { access_token: token } = await app.login();
      const paths = ['/admin', '/admin/both', '/derived', '/derived/both', '/open/handler'];
      await app.http.get('/admin').expect(401);
      await app.get('/admin', token).expect(403, REFUSED);
      for (const [roles, expected] of [
        [null, [403, 403, 403, 403, 403]],
        [
          ['reader', 'support'],
          [200, 403, 200, 403, 403],
        ],
        [['admin'], [200, 200, 200, 200, 200]],
        [
          ['adm', 'Admin', ' admin'],
          [403, 403, 403, 403, 403],
        ],
      ] as const) {
        await setRoles(app, roles as string[] | null);
        const statuses = await Promise.all(paths.map(async (path) => (await app.get(path, token)).status));
        expect([roles, statuses]).toEqual([roles, expected]);
      }
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

/** The columns that can contain roles, with a stored value and the roles that it means. */
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
    const level = { ...column, nullable: true };
    const entity = entityOf('people', { id: GENERATED_ID, email: UNIQUE_TEXT, password: TEXT, level });
    const users = { entity, username: 'email', passwordHash: 'password', roles: 'level' };
    const app = await startForTest(database, mappedUsers(users, {}, ['alice']));
    const { access_token: token } = await app.login();
    expect((await app.auth.authenticate(token))!.roles).toEqual([]);
    await app.dataSource.getRepository(entity).update({ email: 'alice' }, { level: value as never });
    expect((await app.auth.authenticate(token))!.roles).toEqual(roles);
  },
);

it('without `users.roles`, a column `roles` of `users.select` gives no role', async () => {
  const { roles, ...mapping } = MEMBERS_WITH_ROLES;
  const options = mappedUsers({ ...mapping, select: [roles] }, {}, ['alice']);
  const app = await startForTest('sqlite', { ...options, controllers: [AdminController] });
  await setRoles(app, ['admin']);
  await app.get('/admin', (await app.login()).access_token).expect(403, REFUSED);
});

it('a route with a requirement is guarded, also if the check at startup does not find its contradictory decorators', () => {
  const provided = controllerOf('provided', [RequireRoles('admin')], { open: [Public()], optional: [OptionalAuth()] });
  for (const name of ['open', 'optional']) {
    const handler = Reflect.get(provided.prototype as object, name) as () => void;
    const rules = rulesOf({ getHandler: () => handler, getClass: () => provided as never });
    expect(rules).toMatchObject({ isPublic: false, isOptional: false, requiredRoles: [['admin']] });
  }
});

class DirectoryUsers extends UserStore {
  roles: unknown = ['support'];

  findByUsername = (username: string): Promise<StoredUser> => this.findById(username);

  async findById(id: unknown): Promise<StoredUser> {
    const user = { id: String(id), username: String(id), passwordHash: 'the hash', active: true, roles: this.roles };
    return user as StoredUser;
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
  controllers: [AdminController, controllerOf('', [GUARD], { user: [returning(OfRequest('user'))] })],
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

  it('`request.user` is the result of findById, without the hash', async () => {
    directory.roles = ['support'];
    const { accessToken } = await app.auth.openSession('alice');
    const findById = jest.spyOn(directory, 'findById');
    const user = { id: 'alice', username: 'alice', active: true, roles: ['support'] };
    await app.get('/user', accessToken).expect(200, [user]);
    expect(findById).toHaveBeenCalledTimes(1);
    findById.mockRestore();
  });
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

@AllowApiKey('hr:read')
@Resolver(() => Employee)
class AccountResolver {
  @ResolveField(() => String)
  iban(): string {
    return 'DE00';
  }
}

it('a requirement of a GraphQL field or of its class, whose guards Nest ignores by default, prevents startup or protects the field', async () => {
  const database = await databaseForTest('sqlite');
  const providers = [EmployeeResolver, AccountResolver];
  const error = await TestApplication.startError({ database, providers, imports: [apollo()] });
  expect(error).toContain("EmployeeResolver.salary, AccountResolver.iban. Set fieldResolverEnhancers: ['guards']");
  const imports = [apollo({ fieldResolverEnhancers: ['guards'] })];
  const app = await startForTest('sqlite', { ...members, providers, imports });
  const { access_token: token } = await app.login();
  const ask = async (field: string, as: string) =>
    (await app.post('/graphql', as, { query: `{ employee { ${field} } }` })).body.errors[0].extensions.authCode;
  expect(await ask('salary', token)).toBe('insufficient_role');
  expect(await ask('iban', 'none')).toBe('access_token_invalid');
});

it('@RequireRoles() needs the name of a role', () => {
  for (const roles of [[], [''], [['admin']]]) {
    expect(() => RequireRoles(...(roles as string[]))).toThrow('@RequireRoles() received [');
  }
});
