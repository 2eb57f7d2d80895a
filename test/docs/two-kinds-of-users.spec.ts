import type { CanActivate, Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AUTH_ENTITIES_WITHOUT_USERS, BearerAuthGuard, OptionalAuth, type UserStore } from 'nestjs-session-auth';
import { describeApplication, INVALID_CREDENTIALS } from '../support/environment';
import { controllerOf } from '../support/handlers';
import { PASSWORD } from '../support/test-application';
import { codeOf } from './run-block';

type Kind = 'customer' | 'staff';
interface Guarding {
  KindGuard: Type<CanActivate>;
  For: (...kinds: Kind[]) => ClassDecorator & MethodDecorator;
}

const code = codeOf('docs/two-kinds-of-users.md');
const tables = code<Record<'Customer' | 'StaffMember', Type>>('## The tables');
const modules = { './people.entity.js': tables };
const { TwoKindsOfUsers } = code<{ TwoKindsOfUsers: Type<UserStore> }>('## The user store', { modules });
const { LoginController } = code('## The login routes');
const guarding = code<Guarding>('## The guard');
const { RefundsController } = code('## The guard', { modules: { './kind.guard.js': guarding } }, 1);
const { For, KindGuard } = guarding;

const OtherController = controllerOf('', [], {
  profile: [For('customer', 'staff')],
  forgotten: [],
  offers: [OptionalAuth(), For('customer')],
});

const options = {
  auth: { users: TwoKindsOfUsers, endpoints: { login: false } },
  entities: [tables.Customer, tables.StaffMember, ...AUTH_ENTITIES_WITHOUT_USERS],
  controllers: [LoginController!, RefundsController!, OtherController],
  providers: [
    { provide: APP_GUARD, useExisting: BearerAuthGuard },
    { provide: APP_GUARD, useClass: KindGuard },
  ],
  users: [],
};

describeApplication('customers and staff in docs/two-kinds-of-users.md', options, ({ app }) => {
  const attempt = (kind: Kind, email: string, password = PASSWORD) =>
    app.http.post(kind === 'staff' ? '/staff/login' : '/login').send({ email, password });
  const login = async (kind: Kind): Promise<string> => {
    const { body } = await attempt(kind, 'alice@example.com').expect(200);
    return (body as { access_token: string }).access_token;
  };

  // Alice is a customer and a member of staff, with the same id in both tables. Bob is only a customer.
  beforeEach(async () => {
    const password = await app.auth.hashPassword(PASSWORD);
    const alice = { id: 1, email: 'alice@example.com', password, disabledAt: null };
    await app.dataSource.getRepository(tables.Customer).save([alice, { ...alice, id: 2, email: 'bob@example.com' }]);
    await app.dataSource.getRepository(tables.StaffMember).save([alice]);
  });

  it.each<[Kind, number[]]>([
    ['customer', [403, 200, 403, 200, 200]],
    ['staff', [200, 200, 403, 403, 200]],
  ])('a %s reaches only the routes that declare its kind, and no route that declares none', async (kind, expected) => {
    const token = await login(kind);
    const statuses = [];
    for (const path of ['/refunds', '/profile', '/forgotten', '/offers', '/auth/sessions']) {
      statuses.push((await app.get(path, token)).status);
    }
    expect(statuses).toEqual(expected);
    await app.http.get('/offers').expect(403);
    await app.http.get('/refunds').expect(401);
    const principal = await app.principal(token);
    expect(principal.userId).toBe(`${kind}:1`);
    const user = { username: `${kind}:alice@example.com`, kind, email: 'alice@example.com' };
    expect(await app.auth.loadUser(principal)).toMatchObject(user);
  });

  it.each([
    ['the other table', 'bob@example.com'],
    ['no table', 'carol@example.com'],
    ['the other table, with its prefix', 'customer:bob@example.com'],
  ])('the login of staff refuses the address of a user of %s, with the same response', async (_, email) => {
    await attempt('staff', email).expect(400, INVALID_CREDENTIALS);
  });

  it('the two users of a person in both tables have separate accounts and passwords', async () => {
    const staff = await login('staff');
    await app.auth.disableUser('customer:1');
    await attempt('customer', 'alice@example.com').expect(400);
    await app.get('/refunds', staff).expect(200);
    await app.auth.enableUser('customer:1');
    const change = { current_password: PASSWORD, new_password: 'a different long password' };
    await app.post('/auth/password/change', staff, change).expect(200);
    await attempt('staff', 'alice@example.com', change.new_password).expect(200);
    await login('customer');
    await expect(app.auth.disableUser('1')).rejects.toMatchObject({ code: 'unknown_user' });
  });
});
