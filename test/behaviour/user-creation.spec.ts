import {
  AUTH_ENTITIES_WITHOUT_USERS,
  type AuthModuleOptions,
  type NewUser,
  type StoredUser,
  UserStore,
} from 'nestjs-session-auth';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';

@Entity('teams')
class Team {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar' })
  name!: string;
}

class Profile {
  @Column({ type: 'varchar', nullable: true })
  phone!: string | null;
}

@Entity('customers')
class Customer {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', unique: true })
  email!: string;

  @Column({ type: 'varchar', select: false })
  password!: string;

  @Column({ type: Boolean, default: true })
  isActive!: boolean;

  @Column({ type: 'varchar' })
  fullName!: string;

  @Column({ type: 'varchar', default: 'en' })
  language!: string;

  @Column(() => Profile)
  profile!: Profile;

  @ManyToOne(() => Team, { nullable: true })
  team!: Team | null;
}

const CUSTOMERS = { entity: Customer, username: 'email', passwordHash: 'password', active: 'isActive' };
const ENTITIES = [Customer, Team, ...AUTH_ENTITIES_WITHOUT_USERS];
const ALICE = { username: 'alice', password: PASSWORD, properties: { fullName: 'Alice' } };

function start(database: TestDatabase, auth: AuthModuleOptions): Promise<Host> {
  return Host.start({ database, entities: ENTITIES, users: [], auth });
}

describe.each(DATABASES)('a user of a mapped entity with further columns on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await start(database, { users: CUSTOMERS });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(async () => {
    await host.dataSource.query('DELETE FROM customers');
    await host.reset();
  });

  const customers = (): Promise<Customer[]> =>
    host.dataSource.getRepository(Customer).find({ relations: { team: true }, order: { id: 'ASC' } });

  it('is created with its required, embedded and related ones, and logs in', async () => {
    const team = await host.dataSource.getRepository(Team).save({ name: 'support' });
    const properties = { fullName: 'Alice', language: undefined, 'profile.phone': '555', 'team.id': team.id };
    const { id } = await host.auth.createUser({ ...ALICE, properties });
    expect(await customers()).toEqual([
      {
        id,
        email: 'alice',
        isActive: true,
        fullName: 'Alice',
        language: 'en',
        profile: { phone: '555' },
        team: { id: team.id, name: 'support' },
      },
    ]);
    await host.login();
    await expect(host.auth.createUser(ALICE)).rejects.toMatchObject({ code: 'username_taken' });
  });

  it('is not created with what createUser fills, or with what the entity does not have', async () => {
    const create = (properties: object): Promise<unknown> =>
      host.auth.createUser({ ...ALICE, properties: { fullName: 'Alice', ...properties } });
    const choice = 'write one of id, fullName, language, team.id, profile.phone';
    for (const property of ['email', 'password', 'isActive']) {
      const message = `createUser was given the property '${property}', which createUser fills; ${choice}`;
      await expect(create({ [property]: 'x' })).rejects.toThrow(message);
    }
    for (const property of ['nickname', 'profile', 'team', 'constructor']) {
      const message = `createUser was given the property '${property}', which is not a column of Customer; ${choice}`;
      await expect(create({ [property]: 'x' })).rejects.toThrow(message);
    }
    expect(await customers()).toEqual([]);
  });

  it('takes part in a transaction of the application', async () => {
    const rolledBack = host.dataSource.transaction(async (manager) => {
      await host.auth.inTransaction(manager).createUser(ALICE);
      throw new Error('the order failed');
    });
    await expect(rolledBack).rejects.toThrow('the order failed');
    expect(await customers()).toEqual([]);
    await host.dataSource.transaction((manager) => host.auth.inTransaction(manager).createUser(ALICE));
    expect(await customers()).toMatchObject([{ email: 'alice', fullName: 'Alice' }]);
  });

  it('whom the application inserts itself has a password that the policy allows', async () => {
    const common = { code: 'invalid_field', fields: { password: ['This password is too common.'] } };
    const names = { username: 'alice' };
    await expect(host.auth.assertPasswordAllowed('passwordpassword', names)).rejects.toMatchObject(common);
    const short = { fields: { password: ['Ensure this field has at least 15 characters.'] } };
    await expect(host.auth.assertPasswordAllowed('short', names)).rejects.toMatchObject(short);
    const named = { fields: { password: ['This password contains the name of the user.'] } };
    await expect(host.auth.assertPasswordAllowed('here is ALICE again', names)).rejects.toMatchObject(named);
    await host.auth.assertPasswordAllowed(PASSWORD, names);
    const password = await host.auth.hashPassword(PASSWORD);
    await host.dataSource.getRepository(Customer).insert({ email: 'alice', password, fullName: 'Alice' });
    await host.login();
  });
});

/** Keeps what it was given to store. */
class RememberingUsers extends UserStore {
  static given: NewUser | null = null;

  override findByUsername(): Promise<StoredUser | null> {
    return Promise.resolve(null);
  }

  override findById(): Promise<StoredUser | null> {
    return Promise.resolve(null);
  }

  override create(user: NewUser): Promise<StoredUser | null> {
    RememberingUsers.given = user;
    return Promise.resolve({ id: '7', ...user, active: true });
  }
}

describe('the further properties of a new user', () => {
  it('are given to a user store', async () => {
    const database = await createDatabase('sqlite');
    const host = await start(database, { users: RememberingUsers });
    await host.auth.createUser({ ...ALICE, password: null });
    expect(RememberingUsers.given).toEqual({
      username: 'alice',
      passwordHash: null,
      properties: { fullName: 'Alice' },
    });
    await host.auth.createUser({ username: 'bob', password: null });
    expect(RememberingUsers.given).toEqual({ username: 'bob', passwordHash: null });
    await host.close();
    await database.drop();
  });

  it("are refused for the library's own users, which have no column for them", async () => {
    const database = await createDatabase('sqlite');
    const host = await Host.start({ database, users: [] });
    const message = "given the property 'fullName', and AuthUser has no column for it; map an entity of your own";
    await expect(host.auth.createUser(ALICE)).rejects.toThrow(message);
    await host.auth.createUser({ ...ALICE, properties: {} });
    await host.login();
    await host.close();
    await database.drop();
  });
});
