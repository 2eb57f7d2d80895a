import { type CanActivate, type ExecutionContext, Injectable, SetMetadata, UseGuards } from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { BearerAuthGuard, OptionalAuth, type StoredUser, type UserId, UserStore } from 'nestjs-session-auth';
import { Column } from 'typeorm';
import { describeApplication, describeEverywhere, describeHttp, type TestEnvironment } from '../support/environment';
import { controllerOf, GUARD, OfRequest, returning } from '../support/handlers';
import {
  entityOf,
  GENERATED_ID,
  mappedUsers,
  storedUsers,
  TRUE_BY_DEFAULT,
  UNIQUE_TEXT,
} from '../support/mapped-users';
import { applicationStarter } from '../support/start-for-test';
import type { TestApplication } from '../support/test-application';

// From the page "Authorization" of the Nest documentation, unchanged.
enum Role {
  User = 'user',
  Admin = 'admin',
}
const ROLES_KEY = 'roles';
const Roles = (...roles: Role[]) => SetMetadata(ROLES_KEY, roles);

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const requiredRoles = this.reflector.getAllAndOverride<Role[]>(ROLES_KEY, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (!requiredRoles) {
      return true;
    }
    const { user } = context.switchToHttp().getRequest();
    return requiredRoles.some((role) => user.roles?.includes(role));
  }
}

class Address {
  @Column({ type: 'varchar', default: 'Paris' })
  city!: string;
}

const Member = entityOf('members', {
  id: GENERATED_ID,
  email: UNIQUE_TEXT,
  password: { type: 'varchar', name: 'pass_word' },
  isActive: TRUE_BY_DEFAULT,
  roles: { type: 'simple-array', default: 'user' },
  settings: { type: 'simple-json', nullable: true },
  isTrusted: { type: Boolean, default: false, name: 'is_trusted' },
  bornAt: { type: Date, nullable: true },
  plan: { type: 'varchar', default: 'AB', transformer: { to: (value) => value, from: (value) => `plan ${value}` } },
});
Column(() => Address)(Member.prototype as object, 'address');

const Cats = controllerOf('cats', [], {
  create: [Roles(Role.Admin), UseGuards(BearerAuthGuard, RolesGuard)],
  user: [GUARD, returning(OfRequest('user'))],
  optional: [OptionalAuth(), returning(OfRequest('user'))],
});

const MAPPING = { entity: Member, username: 'email', passwordHash: 'password', active: 'isActive' };
const selecting = (select?: string[]) => ({
  ...mappedUsers({ ...MAPPING, ...(select ? { select } : {}) }, {}, ['alice', 'bob']),
  controllers: [Cats],
});
const update = (app: TestApplication, values: object): Promise<unknown> =>
  app.dataSource.getRepository(Member).update({ email: 'alice' }, values);
/** Counts the statements of the library from now on. */
const countStatements = ({ tap }: TestEnvironment): { readonly count: number } => {
  const counted = { count: 0 };
  tap.hook = { before: ({ kind }) => void (counted.count += kind === 'statement' ? 1 : 0) };
  return counted;
};
const SELECT = ['roles', 'settings', 'isTrusted', 'bornAt', 'plan', 'address.city'];

describeEverywhere("Nest's documented RolesGuard with `users.select`", selecting(SELECT), (env) => {
  const { app } = env;

  it('the RolesGuard admits a user with the role and nobody else, from the next request on', async () => {
    const { access_token: token } = await app.login();
    await app.http.get('/cats/create').expect(401);
    for (const [roles, status] of [
      [['user'], 403],
      [['user', 'admin'], 200],
      [['user'], 403],
    ] as const) {
      await update(app, { roles });
      await app.get('/cats/create', token).expect(status);
      await app.get('/cats/create', (await app.login('bob')).access_token).expect(403);
    }
  });

  it('`request.user` contains the values of the entity after their conversion by TypeORM, without a further query', async () => {
    const bornAt = new Date('2001-02-03T04:05:06.000Z');
    await update(app, { settings: { theme: 'dark' }, isTrusted: true, bornAt });
    const { access_token: token } = await app.login();
    const { id } = await app.dataSource.getRepository(Member).findOneByOrFail({ email: 'alice' });
    const expected = { id, username: 'alice', roles: ['user'], settings: { theme: 'dark' }, isTrusted: true };
    const statements = countStatements(env);
    const { body } = await app.get('/cats/user', token).expect(200);
    const user = { ...expected, bornAt: bornAt.toISOString(), plan: 'plan AB', address: { city: 'Paris' } };
    expect([body, Object.keys(body[0] as object)]).toEqual([[user], Object.keys(user)]);
    expect(statements.count).toBe(1);
    await update(app, { settings: null, isTrusted: false, bornAt: null });
    const { body: second } = await app.get('/cats/user', token).expect(200);
    expect(second).toMatchObject([{ settings: null, isTrusted: false, bornAt: null }]);
  });
});

describe.each([undefined, []])('with `users.select` %j', (select) => {
  describeApplication('`request.user`', selecting(select), (env) => {
    const { app } = env;

    it('`request.user` contains id and username, which the statement of the guard has read', async () => {
      const { access_token: token } = await app.login();
      const user = { id: expect.any(Number) as number, username: 'alice' };
      for (const path of ['/cats/user', '/cats/optional']) {
        const statements = countStatements(env);
        expect((await app.get(path, token)).body).toEqual([user]);
        expect(statements.count).toBe(1);
      }
      await app.http.get('/cats/optional').expect(200, [null]);
    });
  });
});

const behindGlobalGuard = {
  ...selecting(['roles']),
  controllers: [controllerOf('global', [], { admin: [Roles(Role.Admin)] })],
  providers: [BearerAuthGuard, RolesGuard].map((useClass) => ({ provide: APP_GUARD, useClass })),
};

describeHttp('a RolesGuard with a global BearerAuthGuard', behindGlobalGuard, ({ app }) => {
  it('the RolesGuard can be global as well', async () => {
    const { access_token: token } = await app.login();
    await app.http.get('/global/admin').expect(401);
    await app.get('/global/admin', token).expect(403);
    await update(app, { roles: ['admin'] });
    await app.get('/global/admin', token).expect(200);
  });
});

const start = applicationStarter({ controllers: [Cats] });

it.each([
  ['keeps a value that other code has set', { id: 'theirs' }, { id: 'theirs' }],
  ['is set if its value is null', null, { username: 'alice' }],
])('`request.user` %s', async (_, user, expected) => {
  const app = await start({
    configure: (app) =>
      void app.use((request: object, __: unknown, next: () => void) => {
        Object.assign(request, { user });
        next();
      }),
  });
  const { body } = await app.get('/cats/user', (await app.login()).access_token).expect(200);
  expect(body).toMatchObject([expected]);
});

/** Returns the users of an external directory, with the roles that the directory assigns. */
class DirectoryUsers extends UserStore {
  findByUsername = (username: string): Promise<StoredUser | null> => this.findById(username);

  async findById(id: UserId): Promise<StoredUser | null> {
    const user = { id, username: String(id), passwordHash: 'the hash', active: true, roles: ['admin'] };
    return user;
  }
}

describeHttp('a UserStore', { ...storedUsers(DirectoryUsers), controllers: [Cats] }, ({ app }) => {
  it('`request.user` is the result of findById, without the hash', async () => {
    const findById = jest.spyOn(DirectoryUsers.prototype, 'findById');
    const { accessToken } = await app.auth.openSession('alice');
    findById.mockClear();
    const { body } = await app.get('/cats/user', accessToken).expect(200);
    expect(body).toMatchObject([{ id: 'alice', username: 'alice', active: true, roles: ['admin'] }]);
    expect(JSON.stringify(body)).not.toContain('ash');
    expect(findById).toHaveBeenCalledTimes(1);
    findById.mockRestore();
    await app.get('/cats/create', accessToken).expect(200);
  });
});
