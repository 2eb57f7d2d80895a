import { Controller, Get, Injectable, Req, SetMetadata, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { BearerAuthGuard, OptionalAuth, UserStore } from 'nestjs-session-auth';
import type { StoredUser, UserId } from 'nestjs-session-auth';
import { Column } from 'typeorm';
import type { TestApplication, TestApplicationOptions } from '../support/test-application';
import { describeApplication, describeHttp, describeEverywhere } from '../support/environment';
import type { TestEnvironment } from '../support/environment';
import { applicationStarter } from '../support/start-for-test';
import { entityOf, GENERATED_ID, mappedUsers, TRUE_BY_DEFAULT, UNIQUE_TEXT } from '../support/mapped-users';

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
@Controller('cats')
class CatsController {
  @Get()
  @Roles(Role.Admin)
  @UseGuards(BearerAuthGuard, RolesGuard)
  create(): void {}

  @Get('user')
  @UseGuards(BearerAuthGuard)
  user(@Req() request: { user?: object }): object {
    return { user: request.user ?? null, names: Object.keys(request.user ?? {}) };
  }

  @Get('optional')
  @OptionalAuth()
  optional(@Req() { user }: { user?: object }): object {
    return { user: user ?? null };
  }
}

@Controller('global')
class GlobalController {
  @Get()
  @Roles(Role.Admin)
  admin(): void {}
}

const MAPPING = { entity: Member, username: 'email', passwordHash: 'password', active: 'isActive' };
const selecting = (select?: string[]): Omit<TestApplicationOptions, 'database'> => ({
  ...mappedUsers({ ...MAPPING, ...(select ? { select } : {}) }, {}, ['alice', 'bob']),
  controllers: [CatsController],
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
  it('the RolesGuard admits a user with the role and nobody else, from the next request on', async () => {
    const { access_token: token } = await env.app.login();
    await env.app.http.get('/cats').expect(401);
    await env.app.get('/cats', token).expect(403);
    await update(env.app, { roles: ['user', 'admin'] });
    await env.app.get('/cats', token).expect(200);
    await env.app.get('/cats', (await env.app.login('bob')).access_token).expect(403);
    await update(env.app, { roles: ['user'] });
    await env.app.get('/cats', token).expect(403);
  });

  it('`request.user` contains the values of the entity after their conversion by TypeORM, without a further query', async () => {
    const bornAt = new Date('2001-02-03T04:05:06.000Z');
    await update(env.app, { settings: { theme: 'dark' }, isTrusted: true, bornAt });
    const { access_token: token } = await env.app.login();
    const { id } = await env.app.dataSource.getRepository(Member).findOneByOrFail({ email: 'alice' });
    const expected = { id, username: 'alice', roles: ['user'], settings: { theme: 'dark' }, isTrusted: true };
    const statements = countStatements(env);
    const { body } = await env.app.get('/cats/user', token).expect(200);
    expect(body).toEqual({
      user: { ...expected, bornAt: bornAt.toISOString(), plan: 'plan AB', address: { city: 'Paris' } },
      names: ['id', 'username', 'roles', 'settings', 'isTrusted', 'bornAt', 'plan', 'address'],
    });
    expect(statements.count).toBe(1);
    await update(env.app, { settings: null, isTrusted: false, bornAt: null });
    const { body: second } = await env.app.get('/cats/user', token).expect(200);
    expect(second.user).toMatchObject({ settings: null, isTrusted: false, bornAt: null });
  });
});

describe.each([undefined, []])('with `users.select` %j', (select) => {
  describeApplication('`request.user`', selecting(select), (env) => {
    it('`request.user` contains id and username, which the statement of the guard has read', async () => {
      const { access_token: token } = await env.app.login();
      const statements = countStatements(env);
      const user = { id: expect.any(Number) as number, username: 'alice' };
      expect((await env.app.get('/cats/user', token)).body).toEqual({ user, names: ['id', 'username'] });
      expect(statements.count).toBe(1);
      await env.app.http.get('/cats/optional').expect(200, { user: null });
      expect((await env.app.get('/cats/optional', token)).body).toEqual({ user });
    });
  });
});

const behindGlobalGuard = {
  ...selecting(['roles']),
  controllers: [GlobalController],
  providers: [BearerAuthGuard, RolesGuard].map((useClass) => ({ provide: APP_GUARD, useClass })),
};

describeHttp('a RolesGuard with a global BearerAuthGuard', behindGlobalGuard, (env) => {
  it('the RolesGuard can be global as well', async () => {
    const { access_token: token } = await env.app.login();
    await env.app.http.get('/global').expect(401);
    await env.app.get('/global', token).expect(403);
    await update(env.app, { roles: ['admin'] });
    await env.app.get('/global', token).expect(200);
  });
});

const start = applicationStarter();

it.each([
  ['keeps a value that other code has set', { id: 'theirs' }, { id: 'theirs' }],
  ['is set if its value is null', null, { username: 'alice' }],
])('`request.user` %s', async (_, user, expected) => {
  const app = await start({
    controllers: [CatsController],
    configure: (app) =>
      void app.use((request: object, __: unknown, next: () => void) => {
        Object.assign(request, { user });
        next();
      }),
  });
  const { body } = await app.get('/cats/user', (await app.login()).access_token).expect(200);
  expect((body as { user: object }).user).toMatchObject(expected);
});

/** Returns the users of an external directory, with the roles that the directory assigns. */
class DirectoryUsers extends UserStore {
  findByUsername(username: string): Promise<StoredUser | null> {
    return this.findById(username);
  }

  findById(id: UserId): Promise<StoredUser | null> {
    const user = { id, username: String(id), passwordHash: 'the hash', active: true, roles: ['admin'] };
    return Promise.resolve(user);
  }
}

const directory = { auth: { users: DirectoryUsers }, controllers: [CatsController], users: [] };

describeHttp('`request.user` with a UserStore', directory, (env) => {
  it('`request.user` is the result of findById, without the hash', async () => {
    const findById = jest.spyOn(DirectoryUsers.prototype, 'findById');
    const { accessToken } = await env.app.auth.openSession('alice');
    findById.mockClear();
    const { body } = await env.app.get('/cats/user', accessToken).expect(200);
    expect(body).toMatchObject({ user: { id: 'alice', username: 'alice', active: true, roles: ['admin'] } });
    expect(JSON.stringify(body)).not.toContain('ash');
    expect(findById).toHaveBeenCalledTimes(1);
    findById.mockRestore();
    await env.app.get('/cats', accessToken).expect(200);
  });
});
