import { Controller, Get, type CanActivate, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  AUTH_ENTITIES_WITHOUT_USERS,
  BearerAuthGuard,
  CurrentUser,
  OptionalAuth,
  type UserStore,
} from 'nestjs-session-auth';
import { describeApplication, INVALID_CREDENTIALS } from '../support/environment';
import { PASSWORD } from '../support/test-application';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

type Kind = 'customer' | 'staff';
interface Guarding {
  KindGuard: Type<CanActivate>;
  For: (...kinds: Kind[]) => ClassDecorator & MethodDecorator;
}

const PAGE = 'docs/two-kinds-of-users.md';
const blockUnder = (heading: string, index = 0) => blocksUnder(PAGE, heading)[index]!;
const tables = runBlock<Record<'Customer' | 'StaffMember', Type>>(blockUnder('## The tables'));
const modules = { './people.entity.js': tables };
const { TwoKindsOfUsers } = runBlock<{ TwoKindsOfUsers: Type<UserStore> }>(blockUnder('## The user store'), {
  modules,
});
const { LoginController } = runBlock<{ LoginController: Type }>(blockUnder('## The login routes'));
const guarding = runBlock<Guarding>(blockUnder('## The guard'));
const { RefundsController } = runBlock<{ RefundsController: Type }>(blockUnder('## The guard', 1), {
  modules: { './kind.guard.js': guarding },
});
const { For, KindGuard } = guarding;

@Controller()
class OtherController {
  @Get('profile')
  @For('customer', 'staff')
  profile(@CurrentUser() user: object): object {
    return user;
  }

  @Get('forgotten')
  forgotten(): object {
    return {};
  }

  @Get('offers')
  @OptionalAuth()
  @For('customer')
  offers(): object {
    return {};
  }
}

const options = {
  auth: { users: TwoKindsOfUsers, endpoints: { login: false } },
  entities: [tables.Customer, tables.StaffMember, ...AUTH_ENTITIES_WITHOUT_USERS],
  controllers: [LoginController, RefundsController, OtherController],
  providers: [
    { provide: APP_GUARD, useExisting: BearerAuthGuard },
    { provide: APP_GUARD, useClass: KindGuard },
  ],
  users: [],
};

describeApplication('customers and staff in docs/two-kinds-of-users.md', options, ({ app }) => {
  const ROUTES = { customer: '/login', staff: '/staff/login' };
  const attempt = (kind: Kind, email: string, password = PASSWORD) =>
    app.http.post(ROUTES[kind]).send({ email, password });
  const login = async (kind: Kind, email: string): Promise<string> => {
    const { body } = await attempt(kind, email).expect(200);
    return (body as { access_token: string }).access_token;
  };

  // Alice is a customer and a member of staff, with the same id in both tables. Bob is only a customer.
  beforeEach(async () => {
    const password = await app.auth.hashPassword(PASSWORD);
    const rows = [
      { id: 1, email: 'alice@example.com', password, disabledAt: null },
      { id: 2, email: 'bob@example.com', password, disabledAt: null },
    ];
    await app.dataSource.getRepository(tables.Customer).save(rows);
    await app.dataSource.getRepository(tables.StaffMember).save(rows.slice(0, 1));
  });

  it('each kind reaches only the routes that declare it, and no route that declares none', async () => {
    const statusesOf = async (token: string): Promise<number[]> => {
      const statuses = [];
      for (const path of ['/refunds', '/profile', '/forgotten', '/offers', '/auth/sessions']) {
        statuses.push((await app.get(path, token)).status);
      }
      return statuses;
    };
    const customer = await login('customer', 'alice@example.com');
    const staff = await login('staff', 'alice@example.com');
    expect(await statusesOf(customer)).toEqual([403, 200, 403, 200, 200]);
    expect(await statusesOf(staff)).toEqual([200, 200, 403, 403, 200]);
    await app.http.get('/offers').expect(403);
    await app.http.get('/refunds').expect(401);
    await app.post('/auth/logout', customer).expect(200);
    const { body } = await app.get('/profile', staff);
    const id = 'staff:1';
    expect(body).toEqual({
      id,
      username: 'staff:alice@example.com',
      active: true,
      kind: 'staff',
      email: 'alice@example.com',
    });
  });

  it.each([
    ['the other table', 'bob@example.com'],
    ['no table', 'carol@example.com'],
    ['the other table, with its prefix', 'customer:bob@example.com'],
  ])('the login of staff refuses the address of a user of %s, with the same response', async (_, email) => {
    await attempt('staff', email).expect(400, INVALID_CREDENTIALS);
  });

  it('the two users of a person in both tables have separate sessions, failed logins and accounts', async () => {
    const staff = await login('staff', 'alice@example.com');
    for (let i = 0; i < 10; i++) await attempt('customer', 'alice@example.com', 'wrong');
    await attempt('customer', 'alice@example.com').expect(429);
    await login('staff', 'alice@example.com');
    const { body } = await app.get('/auth/sessions', staff);
    expect(body).toHaveLength(2);
    await app.auth.disableUser('customer:1');
    await app.auth.resetFailedLogins('customer:alice@example.com');
    await attempt('customer', 'alice@example.com').expect(400);
    await app.get('/refunds', staff).expect(200);
    await app.auth.enableUser('customer:1');
    await login('customer', 'alice@example.com');
  });

  it('a password is changed only in the table of the user, and an id without a prefix is unknown', async () => {
    const newPassword = 'a different long password';
    const staff = await login('staff', 'alice@example.com');
    const change = { current_password: PASSWORD, new_password: newPassword };
    await app.post('/auth/password/change', staff, change).expect(200);
    await attempt('staff', 'alice@example.com', newPassword).expect(200);
    await login('customer', 'alice@example.com');
    await expect(app.auth.disableUser('1')).rejects.toMatchObject({ code: 'unknown_user' });
  });
});
