import type { CanActivate, Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { BearerAuthGuard } from 'nestjs-session-auth';
import { Column } from 'typeorm';
import { codeOf } from '../docs/run-block';
import { describeEverywhere, describeHttp } from '../support/environment';
import { controllerOf, GUARD, OfRequest, returning } from '../support/handlers';
import { entityOf, GENERATED_ID, mappedUsers, TRUE_BY_DEFAULT, UNIQUE_TEXT } from '../support/mapped-users';
import { applicationStarter } from '../support/start-for-test';
import type { TestApplication } from '../support/test-application';

const { RolesGuard, Roles } = codeOf('docs/roles.md')<{
  RolesGuard: Type<CanActivate>;
  Roles: (role: string) => MethodDecorator;
}>('## Add the guard');

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

const Cats = controllerOf('cats', [], { user: [GUARD, returning(OfRequest('user'))] });

const MAPPING = { entity: Member, username: 'email', passwordHash: 'password', active: 'isActive' };
const selecting = (select: string[]) => ({
  ...mappedUsers({ ...MAPPING, select }, {}, ['alice', 'bob']),
  controllers: [Cats],
});
const update = (app: TestApplication, values: object): Promise<unknown> =>
  app.dataSource.getRepository(Member).update({ email: 'alice' }, values);
const SELECT = ['roles', 'settings', 'isTrusted', 'bornAt', 'plan', 'address.city'];

describeEverywhere('`request.user` with `users.select`', selecting(SELECT), ({ app, tap }) => {
  it('`request.user` contains the values of the entity after their conversion by TypeORM, without a further query', async () => {
    const bornAt = new Date('2001-02-03T04:05:06.000Z');
    await update(app, { settings: { theme: 'dark' }, isTrusted: true, bornAt });
    const { access_token: token } = await app.login();
    const { id } = await app.dataSource.getRepository(Member).findOneByOrFail({ email: 'alice' });
    const expected = { id, username: 'alice', roles: ['user'], settings: { theme: 'dark' }, isTrusted: true };
    let statements = 0;
    tap.hook = { before: ({ kind }) => void (statements += kind === 'statement' ? 1 : 0) };
    const { body } = await app.get('/cats/user', token).expect(200);
    const user = { ...expected, bornAt: bornAt.toISOString(), plan: 'plan AB', address: { city: 'Paris' } };
    expect([body, Object.keys(body[0] as object)]).toEqual([[user], Object.keys(user)]);
    expect(statements).toBe(1);
    await update(app, { settings: null, isTrusted: false, bornAt: null });
    const { body: second } = await app.get('/cats/user', token).expect(200);
    expect(second).toMatchObject([{ settings: null, isTrusted: false, bornAt: null }]);
  });
});

const behindGlobalGuard = {
  ...selecting(['roles']),
  controllers: [controllerOf('global', [], { admin: [Roles('admin')] })],
  providers: [BearerAuthGuard, RolesGuard].map((useClass) => ({ provide: APP_GUARD, useClass })),
};

describeHttp('the RolesGuard of docs/roles.md behind a global BearerAuthGuard', behindGlobalGuard, ({ app }) => {
  it('the RolesGuard admits a user with the role and nobody else, from the next request on', async () => {
    const [{ access_token: token }, bob] = [await app.login(), await app.login('bob')];
    await app.http.get('/global/admin').expect(401);
    for (const [roles, status] of [
      [['user'], 403],
      [['user', 'admin'], 200],
      [['user'], 403],
    ] as const) {
      await update(app, { roles });
      await app.get('/global/admin', token).expect(status);
      await app.get('/global/admin', bob.access_token).expect(403);
    }
  });
});

const start = applicationStarter({ controllers: [Cats] });

it.each([
  ['keeps a value that other code has set', { id: 'theirs' }, { id: 'theirs' }],
  ['is the id and the name of the user if its value is null', null, { id: expect.any(String), username: 'alice' }],
])('`request.user` %s', async (_, user, expected) => {
  const app = await start({
    configure: (app) =>
      void app.use((request: object, __: unknown, next: () => void) => {
        Object.assign(request, { user });
        next();
      }),
  });
  const { body } = await app.get('/cats/user', (await app.login()).access_token).expect(200);
  expect(body).toEqual([expected]);
});
