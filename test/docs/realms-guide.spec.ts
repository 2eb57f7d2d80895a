import type { Type } from '@nestjs/common';
import { AUTH_ENTITIES_WITHOUT_USERS, type RealmResolver, type UserStore } from 'nestjs-session-auth';
import { describeOnEachDatabase } from '../support/environment';
import { mappedUsers } from '../support/mapped-users';
import { HeaderRealms } from '../support/realms';
import { PASSWORD } from '../support/test-application';
import { codeOf } from './run-block';

const code = codeOf('docs/realms.md');
const { Member } = code<{ Member: Type }>('## Tenants');
const { TenantOfHost } = code<{ TenantOfHost: Type<RealmResolver> }>('## Tenants', {}, 1);
const { SignUpController } = code('## Methods without a call');
const users = { entity: Member, username: 'email', passwordHash: 'password', realm: 'tenant' };
const tenants = { ...mappedUsers(users, { realm: TenantOfHost }), controllers: [SignUpController!] };

describeOnEachDatabase('tenants in docs/realms.md', tenants, ({ app }) => {
  it('a token is valid on the domain of its tenant only, and a user of another tenant can have the same name', async () => {
    const form = { email: 'alice@example.com', password: PASSWORD };
    const { body } = await app.http.post('/sign-up').send(form).expect(201);
    const statuses = [];
    for (const host of ['acme.example.com', 'globex.example.com', 'example.com']) {
      statuses.push((await app.get('/auth/sessions/', body.access_token).set('Host', host)).status);
    }
    expect(statuses).toEqual([200, 401, 401]);
    await app.auth.createUser({ username: form.email, password: PASSWORD, realm: 'globex' });
  });
});

const people = codeOf('docs/two-kinds-of-users.md')<Record<'Customer' | 'StaffMember', Type>>('## The tables');
const { CustomersAndStaff } = code<{ CustomersAndStaff: Type<UserStore> }>('## Admins beside customers', {
  modules: { './people.entity.js': people },
});

const kinds = {
  auth: { realm: HeaderRealms, users: CustomersAndStaff },
  entities: [people.Customer, people.StaffMember, ...AUTH_ENTITIES_WITHOUT_USERS],
  users: [],
};

describeOnEachDatabase('admins beside customers in docs/realms.md', kinds, ({ app }) => {
  it('a person in both tables has two users, whose tokens are valid in their realm only', async () => {
    const row = { id: 1, email: 'alice', password: await app.auth.hashPassword(PASSWORD), disabledAt: null };
    for (const table of [people.Customer, people.StaffMember]) await app.dataSource.getRepository(table).save(row);
    for (const realm of ['customers', 'staff']) {
      const other = realm === 'staff' ? 'customers' : 'staff';
      const { accessToken, userId } = await app.auth.login({ username: 'alice', password: PASSWORD }, { realm });
      expect(userId).toBe(`${realm}:1`);
      await app.get('/auth/sessions/', accessToken).set('X-Realm', realm).expect(200);
      await app.get('/auth/sessions/', accessToken).set('X-Realm', other).expect(401);
    }
  });
});
