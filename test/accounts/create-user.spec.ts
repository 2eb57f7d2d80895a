import { AUTH_ENTITIES_WITHOUT_USERS } from 'nestjs-session-auth';
import { Column, Entity, type InsertEvent, ManyToOne } from 'typeorm';
import { entityOf, GENERATED_ID, OPTIONAL_TEXT, TEXT, TRUE_BY_DEFAULT } from '../support/mapped-users';
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
  /** What a subscriber of the application changes before a row is inserted. */
  let changes: object;

  beforeAll(() => {
    const beforeInsert = ({ entity }: InsertEvent<Customer>): void => void Object.assign(entity, changes);
    app.dataSource.subscribers.push({ listenTo: () => Customer, beforeInsert });
  });
  beforeEach(async () => {
    changes = {};
    await app.dataSource.query('DELETE FROM customers');
  });

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

  it.each([
    ['password', 'the hash of the hash'],
    ['email', 'ALICE'],
  ])(
    'createUser creates no user if a subscriber changes the property %s, which the error names',
    async (property, value) => {
      changes = { [property]: value };
      const message = expect.stringContaining(`the property '${property}' of Customer`) as string;
      const error = { code: 'not_supported', message };
      await expect(app.auth.createUser(ALICE)).rejects.toMatchObject(error);
      await app.dataSource.transaction(async (manager) => {
        await expect(app.auth.inTransaction(manager).createUser(ALICE)).rejects.toMatchObject(error);
      });
      expect(await customers()).toEqual([]);
    },
  );

  it('createUser creates the user if a subscriber changes another property', async () => {
    changes = { fullName: 'Bob' };
    await app.auth.createUser(ALICE);
    expect(await customers()).toMatchObject([changes]);
    await app.login();
  });

  it('an application can insert a user itself after checking the password with assertPasswordAllowed', async () => {
    const names = { username: 'alice' };
    const refused = { code: 'invalid_field', fields: { password: ['This password contains the username.'] } };
    await expect(app.auth.assertPasswordAllowed('here is ALICE again', names)).rejects.toMatchObject(refused);
    await app.auth.assertPasswordAllowed(PASSWORD, names);
    const password = await app.auth.hashPassword(PASSWORD);
    await app.dataSource.getRepository(Customer).insert({ email: 'alice', password, fullName: 'Alice' });
    await app.login();
  });
});

describeOnEachDatabase("new users in the library's own table", {}, ({ app }) => {
  it('createUser refuses additional properties, because AuthUser accepts none', async () => {
    const carol = { ...ALICE, username: 'carol' };
    const message = "received the property 'fullName', not a column of AuthUser; map your own entity";
    await expect(app.auth.createUser(carol)).rejects.toThrow(message);
    await app.auth.createUser({ ...carol, properties: {} });
    await app.login('carol');
  });

  // Control, zero-width, bidirectional, separating, filling and tag characters.
  it.each([
    ...['ali\u0000ce', 'ali\tce', 'alice\n', 'alice\u007f', 'alice\u0085', '\u200balice', 'ali\u200cce', 'ali\u200dce'],
    ...['ali\u00adce', 'alice\u2060', '\ufeffalice', '\u202ealice', 'alice\u200e', '\u2066alice\u2069', 'alice\u061c'],
    ...['ali\u2028ce', 'alice\u034f', 'alice\ufe0f', 'alice\u3164', 'alice\u{e0041}'],
  ])('a name cannot contain a character that is not displayed: %j', async (username) => {
    const refused = { code: 'invalid_field', fields: { username: [expect.any(String)] } };
    await expect(app.auth.createUser({ username, password: null })).rejects.toMatchObject(refused);
  });

  it.each(['jos\u00e9', 'jose\u0301', '\u5f20\u4f1f', '\u0639\u0644\u064a', '\u05d3\u05d5\u05d3', 'a b', '\u{1f600}'])(
    'a name can contain letters and symbols of every script: %s',
    async (username) => {
      const { id } = await app.auth.createUser({ username, password: null });
      expect(await app.auth.openSession(id)).toMatchObject({ sessionId: expect.any(String), userId: id });
    },
  );
});
