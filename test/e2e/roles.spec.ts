import {
  Controller,
  Get,
  Injectable,
  Req,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { GqlExecutionContext, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import {
  AUTH_ENTITIES_WITHOUT_USERS,
  BearerAuthGuard,
  OptionalAuth,
  UserStore,
  type StoredUser,
  type UserId,
} from 'nestjs-session-auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase } from '../support/databases';
import { Host, type HostOptions } from '../support/host';
import { Tap } from '../support/tap';
import { stories, storiesOnBothPlatforms, type Stage } from './stories';

// From the page "Authorization" of Nest's documentation, unchanged.
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

@Entity('members')
class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', unique: true })
  email!: string;

  @Column({ type: 'varchar', name: 'pass_word' })
  password!: string;

  @Column({ type: Boolean, default: true })
  isActive!: boolean;

  @Column({ type: 'simple-array', default: 'user' })
  roles!: string[];

  @Column({ type: 'simple-json', nullable: true })
  settings!: { theme: string } | null;

  @Column({ type: Boolean, default: false, name: 'is_trusted' })
  isTrusted!: boolean;

  @Column({ type: Date, nullable: true })
  bornAt!: Date | null;

  @Column({ type: 'varchar', default: 'AB', transformer: { to: (value) => value, from: (value) => `plan ${value}` } })
  plan!: string;

  @Column(() => Address)
  address!: Address;
}

@Controller('cats')
class CatsController {
  @Get()
  @Roles(Role.Admin)
  @UseGuards(BearerAuthGuard, RolesGuard)
  create(): object {
    return {};
  }

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
  @Get('admin')
  @Roles(Role.Admin)
  admin(): object {
    return {};
  }
}

const MAPPING = { entity: Member, username: 'email', passwordHash: 'password', active: 'isActive' };
const SELECT = ['roles', 'settings', 'isTrusted', 'bornAt', 'plan', 'address.city'];
const selecting = (select?: string[]): Omit<HostOptions, 'database'> => ({
  auth: { users: { ...MAPPING, ...(select ? { select } : {}) } },
  entities: [Member, ...AUTH_ENTITIES_WITHOUT_USERS],
  controllers: [CatsController],
});
const update = (host: Host, email: string, values: Partial<Member>): Promise<unknown> =>
  host.dataSource.getRepository(Member).update({ email }, values);

storiesOnBothPlatforms("with `users.select`, Nest's documented RolesGuard", selecting(SELECT), (at: Stage) => {
  it('admits a user with the role and no other, from the next request on', async () => {
    const { access_token: token } = await at.host.login();
    await at.host.http.get('/cats').expect(401);
    await at.host.get('/cats', token).expect(403);
    await update(at.host, 'alice', { roles: ['user', 'admin'] });
    await at.host.get('/cats', token).expect(200);
    await at.host.get('/cats', (await at.host.login('bob')).access_token).expect(403);
    await update(at.host, 'alice', { roles: ['user'] });
    await at.host.get('/cats', token).expect(403);
  });

  it('finds values as the entity has them in `request.user`', async () => {
    const bornAt = new Date('2001-02-03T04:05:06.000Z');
    await update(at.host, 'alice', { settings: { theme: 'dark' }, isTrusted: true, bornAt });
    const { access_token: token } = await at.host.login();
    const { id } = await at.host.dataSource.getRepository(Member).findOneByOrFail({ email: 'alice' });
    const expected = { id, username: 'alice', roles: ['user'], settings: { theme: 'dark' }, isTrusted: true };
    const { body } = await at.host.get('/cats/user', token).expect(200);
    expect(body).toEqual({
      user: { ...expected, bornAt: bornAt.toISOString(), plan: 'plan AB', address: { city: 'Paris' } },
      names: ['id', 'username', 'roles', 'settings', 'isTrusted', 'bornAt', 'plan', 'address'],
    });
    await update(at.host, 'alice', { settings: null, isTrusted: false, bornAt: null });
    const { body: second } = await at.host.get('/cats/user', token).expect(200);
    expect((second as { user: Member }).user).toMatchObject({ settings: null, isTrusted: false, bornAt: null });
  });

  it('needs no further statement', async () => {
    const { access_token: token } = await at.host.login();
    let statements = 0;
    new Tap(at.host).hook = { before: ({ kind }) => void (statements += kind === 'statement' ? 1 : 0) };
    await at.host.get('/cats/user', token).expect(200);
    expect(statements).toBe(1);
  });

  it('finds no user without a token on a route with @OptionalAuth()', async () => {
    const { access_token: token } = await at.host.login();
    await at.host.http.get('/cats/optional').expect(200, { user: null });
    const { body } = await at.host.get('/cats/optional', token).expect(200);
    expect(body).toMatchObject({ user: { username: 'alice' } });
  });

  it('is not reached by a user who is disabled or deleted', async () => {
    const { access_token: token } = await at.host.login('bob');
    await update(at.host, 'bob', { isActive: false });
    await at.host.get('/cats/user', token).expect(401);
    await update(at.host, 'bob', { isActive: true });
    const { access_token: other } = await at.host.login('bob');
    const { id } = await at.host.dataSource.getRepository(Member).findOneByOrFail({ email: 'bob' });
    await at.host.dataSource.getRepository(Member).update({ id }, { id: 1000 });
    await at.host.get('/cats/user', other).expect(401);
    await at.host.dataSource.getRepository(Member).update({ id: 1000 }, { id });
  });

  it('has users of their own where requests are read together', async () => {
    const tokens = [];
    for (const name of ['alice', 'bob', 'alice']) tokens.push((await at.host.login(name)).access_token);
    const presented = [...tokens, ...tokens, ...tokens];
    const principals = await Promise.all(presented.map((token) => at.host.get('/cats/user', token)));
    expect(principals.map(({ body }) => (body as { user: Member & { username: string } }).user.username)).toEqual(
      Array(3).fill(['alice', 'bob', 'alice']).flat(),
    );
  });
});

stories('with an empty `users.select`, `request.user`', selecting([]), (at: Stage) => {
  it('holds the id and the name', async () => {
    const { body } = await at.host.get('/cats/user', (await at.host.login()).access_token).expect(200);
    expect(body).toEqual({ user: { id: expect.any(Number), username: 'alice' }, names: ['id', 'username'] });
  });
});

stories('without `users.select`, `request.user`', selecting(), (at: Stage) => {
  it('is not set', async () => {
    const { body } = await at.host.get('/cats/user', (await at.host.login()).access_token).expect(200);
    expect(body).toEqual({ user: null, names: [] });
  });
});

const behindGlobalGuard: Omit<HostOptions, 'database'> = {
  ...selecting(['roles']),
  controllers: [GlobalController],
  providers: [
    { provide: APP_GUARD, useClass: BearerAuthGuard },
    { provide: APP_GUARD, useClass: RolesGuard },
  ],
};

storiesOnBothPlatforms(
  "behind a global BearerAuthGuard, Nest's documented RolesGuard",
  behindGlobalGuard,
  (at: Stage) => {
    it('can be global as well', async () => {
      const { access_token: token } = await at.host.login();
      await at.host.http.get('/global/admin').expect(401);
      await at.host.get('/global/admin', token).expect(403);
      await update(at.host, 'alice', { roles: ['admin'] });
      await at.host.get('/global/admin', token).expect(200);
    });
  },
);

describe('`request.user`', () => {
  it.each([
    ['that other code has set stays', { id: 'theirs' }, { id: 'theirs' }],
    ['that is declared and empty is set', null, { username: 'alice' }],
  ])('%s', async (_, present, expected) => {
    const database = await createDatabase('sqlite');
    const host = await Host.start({
      ...selecting([]),
      database,
      configure: (app) => {
        app.use((request: object, __: unknown, next: () => void) => {
          Object.assign(request, { user: present });
          next();
        });
      },
    });
    const { body } = await host.get('/cats/user', (await host.login()).access_token).expect(200);
    expect((body as { user: object }).user).toMatchObject(expected);
    await host.close();
    await database.drop();
  });
});

/** Users of a directory, which have roles there. */
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

storiesOnBothPlatforms('with a UserStore, `request.user`', directory, (at: Stage) => {
  it('holds what findById returned, without the hash', async () => {
    const findById = jest.spyOn(DirectoryUsers.prototype, 'findById');
    const { accessToken } = await at.host.auth.openSession('alice');
    findById.mockClear();
    const { body } = await at.host.get('/cats/user', accessToken).expect(200);
    expect(body).toMatchObject({ user: { id: 'alice', username: 'alice', active: true, roles: ['admin'] } });
    expect(JSON.stringify(body)).not.toContain('ash');
    expect(findById).toHaveBeenCalledTimes(1);
    findById.mockRestore();
    await at.host.get('/cats', accessToken).expect(200);
  });
});

/** The same guard with the request of GraphQL, as the page "Other features" of Nest's documentation reads it. */
@Injectable()
class GraphQLRolesGuard extends RolesGuard {
  override canActivate(context: ExecutionContext): boolean {
    const operation = GqlExecutionContext.create(context);
    const request = operation.getContext<{ reply: { request: object } }>().reply.request;
    return super.canActivate({
      getHandler: () => operation.getHandler(),
      getClass: () => operation.getClass(),
      switchToHttp: () => ({ getRequest: () => request }),
    } as unknown as ExecutionContext);
  }
}

@Resolver()
class CatsResolver {
  @Query(() => String)
  @Roles(Role.Admin)
  @UseGuards(BearerAuthGuard, GraphQLRolesGuard)
  cats(): string {
    return 'cats';
  }
}

describe('a RolesGuard for GraphQL', () => {
  it('finds the roles on the request of the operation', async () => {
    const database = await createDatabase('sqlite');
    const host = await Host.start({
      ...selecting(['roles']),
      database,
      platform: 'fastify',
      imports: [
        // The cache is imported in a way that Jest does not know.
        GraphQLModule.forRoot<MercuriusDriverConfig>({
          driver: MercuriusDriver,
          autoSchemaFile: true,
          cache: false as never,
        }),
      ],
      providers: [CatsResolver],
    });
    const { access_token: token } = await host.login();
    const ask = async (): Promise<unknown> =>
      (await host.post('/graphql', token, { query: '{ cats again: cats }' })).body as unknown;
    expect(await ask()).toMatchObject({ data: null, errors: expect.arrayContaining([expect.anything()]) });
    await update(host, 'alice', { roles: ['admin'] });
    expect(await ask()).toEqual({ data: { cats: 'cats', again: 'cats' } });
    await host.close();
    await database.drop();
  });
});
