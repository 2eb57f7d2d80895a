import { type CanActivate, type Type, UseGuards } from '@nestjs/common';
import { AUTH_ENTITIES_WITHOUT_USERS, BearerAuthGuard, OptionalAuth } from 'nestjs-session-auth';
import { actingAs } from 'nestjs-session-auth/testing';
import { DataSource, Entity, JoinTable, ManyToMany, ManyToOne } from 'typeorm';
import { describeOnEachDatabase } from '../support/environment';
import { controllerOf } from '../support/handlers';
import { entityOf, GENERATED_ID, OPTIONAL_TEXT, UNIQUE_TEXT } from '../support/mapped-users';
import { PASSWORD } from '../support/test-application';
import { codeOf } from './run-block';

type EntityClass = new () => { id: number };
type Decorator = (...roles: unknown[]) => MethodDecorator;

const code = codeOf('docs/roles-in-a-relation.md');
const LONG_TEXT = { type: 'varchar', length: 255 } as const;
const { User, Role } = code<Record<'User' | 'Role', EntityClass>>('## One role for each user');

/** The entity before the foreign key is declared as a column. */
@Entity('users')
class UserBefore extends entityOf('UserColumns', {
  id: GENERATED_ID,
  email: { ...LONG_TEXT, unique: true },
  password: { ...LONG_TEXT, nullable: true },
}) {
  @ManyToOne(() => Role)
  role!: object | null;
}

@Entity('members')
class Member extends entityOf('MemberColumns', { id: GENERATED_ID, email: UNIQUE_TEXT, password: OPTIONAL_TEXT }) {
  @ManyToMany(() => Role)
  @JoinTable()
  roles!: object[];
}

interface Guarding {
  RolesGuard: Type<CanActivate>;
  Roles: Decorator;
  RoleId: Record<'Admin' | 'Member', number>;
  RoleNamesGuard: Type<CanActivate>;
  RoleNames: Decorator;
}
const byId = code<Guarding>('## One role for each user', {}, 2);
const modules = { './member.entity.js': { Member } };
const byName = code<Guarding>('## Several roles for each user', { modules });
const { Admin, Member: Plain } = byId.RoleId;

function optionsOf(entity: EntityClass, select: string[], guard: Type<CanActivate>, forAdmins: MethodDecorator) {
  const handlers = { 'for-admins': [forAdmins], optional: [OptionalAuth(), forAdmins], all: [] };
  return {
    auth: { users: { entity, username: 'email', passwordHash: 'password', select } },
    entities: [entity, Role, ...AUTH_ENTITIES_WITHOUT_USERS],
    controllers: [controllerOf('reports', [UseGuards(BearerAuthGuard, guard)], handlers)],
    users: [],
  };
}

const withKey = optionsOf(User, ['roleId'], byId.RolesGuard, byId.Roles(Admin));
describeOnEachDatabase('the foreign key in docs/roles-in-a-relation.md', withKey, ({ app, database }) => {
  it('a change of the role takes effect with the next request, and a user without a role has none', async () => {
    const users = app.dataSource.getRepository(User);
    await app.dataSource.getRepository(Role).save([Admin, Plain].map((id) => ({ id, name: `role ${id}` })));
    const alice = await app.auth.createUser({ username: 'alice', password: PASSWORD, properties: { roleId: Admin } });
    const { headers } = await actingAs(app.nest, alice);
    for (const roleId of [Plain, Admin, null]) {
      await users.update({ id: Number(alice.id) }, { roleId } as object);
      await app.http
        .get('/reports/for-admins')
        .set(headers)
        .expect(roleId === Admin ? 200 : 403);
    }
    await app.http.get('/reports/all').set(headers).expect(200);
    await app.http.get('/reports/optional').expect(403);
    await app.http.get('/reports/for-admins').expect(401);
  });

  it('the property needs no migration in a database that has the relation', async () => {
    const relationOnly = await new DataSource({ ...database.options, entities: [UserBefore, Role] }).initialize();
    expect((await relationOnly.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    await relationOnly.destroy();
  });
});

const withTable = optionsOf(Member, [], byName.RoleNamesGuard, byName.RoleNames('admin', 'auditor'));
describeOnEachDatabase('the join table in docs/roles-in-a-relation.md', withTable, ({ app }) => {
  it('only a member who has one of the roles is admitted, from the next request on', async () => {
    const [admin, plain] = await app.dataSource.getRepository(Role).save([
      { id: Admin, name: 'admin' },
      { id: Plain, name: 'member' },
    ]);
    const members = app.dataSource.getRepository(Member);
    await members.save({ email: 'bob', password: null, roles: [admin!] });
    const alice = await members.save({ email: 'alice', password: null, roles: [] });
    const { headers } = await actingAs(app.nest, alice.id);
    for (const [roles, status] of [
      [[plain!], 403],
      [[plain!, admin!], 200],
      [[], 403],
    ] as const) {
      await members.save({ ...alice, roles: [...roles] });
      await app.http.get('/reports/for-admins').set(headers).expect(status);
    }
    await app.http.get('/reports/all').set(headers).expect(200);
    await app.http.get('/reports/optional').expect(403);
  });
});
