import { createHash } from 'node:crypto';
import { AUTH_ENTITIES_WITHOUT_USERS, type NewUser, type StoredUser, UserStore } from 'nestjs-session-auth';
import { Column, Entity, type InsertEvent, ManyToOne } from 'typeorm';
import { DATABASES } from '../support/databases';
import { entityOf, GENERATED_ID, OPTIONAL_TEXT, storedUsers, TEXT, TRUE_BY_DEFAULT } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { describeOnEachDatabase } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const Team = entityOf('Team', { id: GENERATED_ID, name: TEXT });
const Profile = entityOf('Profile', { phone: OPTIONAL_TEXT });

@Entity('customers')
class Customer extends entityOf('CustomerColumns', {
  id: GENERATED_ID,
  email: { type: 'varchar', unique: true },
  password: { type: 'varchar', select: false },
  isActive: TRUE_BY_DEFAULT,
  fullName: TEXT,
  language: { type: 'varchar', default: 'en' },
}) {
  @Column(() => Profile)
  profile!: InstanceType<typeof Profile>;

  @ManyToOne(() => Team, { nullable: true })
  team!: InstanceType<typeof Team> | null;
}

const CUSTOMERS = { entity: Customer, username: 'email', passwordHash: 'password', active: 'isActive' };
const OPTIONS = { entities: [Customer, Team, ...AUTH_ENTITIES_WITHOUT_USERS], users: [], auth: { users: CUSTOMERS } };
const ALICE = { username: 'alice', password: PASSWORD, properties: { fullName: 'Alice' } };

describeOnEachDatabase('createUser with additional columns of a mapped entity', OPTIONS, ({ app }) => {
  beforeEach(() => app.dataSource.query('DELETE FROM customers'));

  const customers = (): Promise<Customer[]> =>
    app.dataSource.getRepository(Customer).find({ relations: { team: true }, order: { id: 'ASC' } });

  it('createUser fills required, embedded and related columns, and the user can log in', async () => {
    const team = await app.dataSource.getRepository(Team).save({ name: 'support' });
    const properties = { fullName: 'Alice', language: undefined, 'profile.phone': '555', 'team.id': team.id };
    const { id } = await app.auth.createUser({ ...ALICE, properties });
    const filled = { email: 'alice', isActive: true, fullName: 'Alice', language: 'en' };
    expect(await customers()).toEqual([{ id, ...filled, profile: { phone: '555' }, team }]);
    await app.login();
    await expect(app.auth.createUser(ALICE)).rejects.toMatchObject({ code: 'username_taken' });
  });

  it('createUser refuses columns that the library fills or that the entity does not have', async () => {
    const create = (properties: object): Promise<unknown> =>
      app.auth.createUser({ ...ALICE, properties: { fullName: 'Alice', ...properties } });
    const choice = 'use one of id, fullName, language, team.id, profile.phone';
    for (const property of ['email', 'password', 'isActive', 'nickname', 'profile', 'team', 'constructor']) {
      const isMapped = ['email', 'password', 'isActive'].includes(property);
      const reason = isMapped ? 'which the option users maps' : 'not a column of Customer';
      const message = `createUser() received the property '${property}', ${reason}; ${choice}`;
      await expect(create({ [property]: 'x' })).rejects.toThrow(message);
    }
    expect(await customers()).toEqual([]);
  });

  it('an application can insert a user itself after checking the password with assertPasswordAllowed', async () => {
    const names = { username: 'alice' };
    for (const [password, message] of [
      ['passwordpassword', 'This password is too common.'],
      ['short', 'Ensure this field has at least 15 characters.'],
      ['here is ALICE again', 'This password contains the username.'],
    ] as const) {
      const refused = { code: 'invalid_field', fields: { password: [message] } };
      await expect(app.auth.assertPasswordAllowed(password, names)).rejects.toMatchObject(refused);
    }
    await app.auth.assertPasswordAllowed(PASSWORD, names);
    const password = await app.auth.hashPassword(PASSWORD);
    await app.dataSource.getRepository(Customer).insert({ email: 'alice', password, fullName: 'Alice' });
    await app.login();
  });
});

describeOnEachDatabase('names of new users', {}, ({ app }) => {
  // Control, zero-width, bidirectional, separating, filling and tag characters.
  it.each([
    ...['ali\u0000ce', 'ali\tce', 'alice\n', 'alice\u007f', 'alice\u0085', '\u200balice', 'ali\u200cce', 'ali\u200dce'],
    ...['ali\u00adce', 'alice\u2060', '\ufeffalice', '\u202ealice', 'alice\u200e', '\u2066alice\u2069', 'alice\u061c'],
    ...['ali\u2028ce', 'alice\u034f', 'alice\ufe0f', 'alice\u3164', 'alice\u{e0041}'],
  ])('a name cannot contain a character that is not displayed: %j', async (username) => {
    const refused = { code: 'invalid_field', fields: { username: [expect.any(String)] } };
    const user = { username, password: null };
    await expect(app.auth.createUser(user)).rejects.toMatchObject(refused);
    await app.dataSource.transaction((manager) =>
      expect(app.auth.inTransaction(manager).createUser(user)).rejects.toMatchObject(refused),
    );
  });

  it.each(['jos\u00e9', 'jose\u0301', '\u5f20\u4f1f', '\u0639\u0644\u064a', '\u05d3\u05d5\u05d3', 'a b', '\u{1f600}'])(
    'a name can contain letters and symbols of every script: %s',
    async (username) => {
      const { id } = await app.auth.createUser({ username, password: null });
      expect(await app.auth.openSession(id)).toMatchObject({ sessionId: expect.any(String), userId: id });
    },
  );
});

/** A user store that records the new users that the library passes. */
class RememberingUsers extends UserStore {
  static readonly given: NewUser[] = [];

  override findByUsername = (): Promise<null> => Promise.resolve(null);
  override findById = (): Promise<null> => Promise.resolve(null);

  override create(user: NewUser): Promise<StoredUser | null> {
    RememberingUsers.given.push(user);
    return Promise.resolve({ id: '7', ...user, active: true });
  }
}

it('a user store receives the additional properties of a new user', async () => {
  const app = await startForTest('sqlite', storedUsers(RememberingUsers));
  await app.auth.createUser({ ...ALICE, password: null });
  await app.auth.createUser({ username: 'bob', password: null });
  expect(RememberingUsers.given).toEqual([
    { username: 'alice', passwordHash: null, properties: { fullName: 'Alice' } },
    { username: 'bob', passwordHash: null },
  ]);
});

it("createUser refuses additional properties for the library's own users, because AuthUser accepts no properties", async () => {
  const app = await startForTest('sqlite', { users: [] });
  const message = "received the property 'fullName', not a column of AuthUser; map your own entity";
  await expect(app.auth.createUser(ALICE)).rejects.toThrow(message);
  await app.auth.createUser({ ...ALICE, properties: {} });
  await app.login();
});

describe.each(DATABASES)('createUser beside a subscriber of the application on %s', (name) => {
  it.each([
    ['the hash', 'password', (value: string) => createHash('sha256').update(value).digest('hex')],
    ['the name', 'email', (value: string) => value.toLowerCase()],
    ['another property', 'fullName', () => 'Bob'],
  ] as const)(
    'a user of whom a subscriber changes %s is created only if the library does not fill the property, which the error names',
    async (_, property, change) => {
      const app = await startForTest(name, OPTIONS);
      app.dataSource.subscribers.push({
        listenTo: () => Customer,
        beforeInsert: ({ entity }: InsertEvent<Customer>) => void (entity[property] = change(entity[property])),
      });
      const user = { ...ALICE, username: 'Alice' };
      if (property === 'fullName') {
        await app.auth.createUser(user);
        await app.login('Alice');
        return;
      }
      const error = {
        code: 'not_supported',
        message: expect.stringContaining(`the property '${property}' of Customer`),
      };
      await expect(app.auth.createUser(user)).rejects.toMatchObject(error);
      await app.dataSource.transaction(async (manager) => {
        await expect(app.auth.inTransaction(manager).createUser(user)).rejects.toMatchObject(error);
      });
      expect(await app.dataSource.getRepository(Customer).count()).toBe(0);
    },
  );
});
