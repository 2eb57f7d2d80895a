import {
  AUTH_ENTITIES_WITHOUT_USERS,
  type AuthModuleOptions,
  type NewUser,
  type StoredUser,
  UserStore,
} from 'nestjs-session-auth';
import { createHash } from 'node:crypto';
import {
  Column,
  type DataSourceOptions,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  ManyToOne,
  PrimaryGeneratedColumn,
} from 'typeorm';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';

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

function start(database: TestDatabase, auth: AuthModuleOptions): Promise<TestApplication> {
  return TestApplication.start({ database, entities: ENTITIES, users: [], auth });
}

describe.each(DATABASES)('createUser with additional columns of a mapped entity on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await start(database, { users: CUSTOMERS });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    await app.dataSource.query('DELETE FROM customers');
    await app.reset();
  });

  const customers = (): Promise<Customer[]> =>
    app.dataSource.getRepository(Customer).find({ relations: { team: true }, order: { id: 'ASC' } });

  it('createUser fills required, embedded and related columns, and the user can log in', async () => {
    const team = await app.dataSource.getRepository(Team).save({ name: 'support' });
    const properties = { fullName: 'Alice', language: undefined, 'profile.phone': '555', 'team.id': team.id };
    const { id } = await app.auth.createUser({ ...ALICE, properties });
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
    await app.login();
    await expect(app.auth.createUser(ALICE)).rejects.toMatchObject({ code: 'username_taken' });
  });

  it('createUser refuses columns that the library fills or that the entity does not have', async () => {
    const create = (properties: object): Promise<unknown> =>
      app.auth.createUser({ ...ALICE, properties: { fullName: 'Alice', ...properties } });
    const choice = 'use one of id, fullName, language, team.id, profile.phone';
    for (const property of ['email', 'password', 'isActive']) {
      const message = `createUser() received the property '${property}', which the option users maps; ${choice}`;
      await expect(create({ [property]: 'x' })).rejects.toThrow(message);
    }
    for (const property of ['nickname', 'profile', 'team', 'constructor']) {
      const message = `createUser() received the property '${property}', not a column of Customer; ${choice}`;
      await expect(create({ [property]: 'x' })).rejects.toThrow(message);
    }
    expect(await customers()).toEqual([]);
  });

  it('createUser takes part in a transaction of the application', async () => {
    const rolledBack = app.dataSource.transaction(async (manager) => {
      await app.auth.inTransaction(manager).createUser(ALICE);
      throw new Error('the order failed');
    });
    await expect(rolledBack).rejects.toThrow('the order failed');
    expect(await customers()).toEqual([]);
    await app.dataSource.transaction((manager) => app.auth.inTransaction(manager).createUser(ALICE));
    expect(await customers()).toMatchObject([{ email: 'alice', fullName: 'Alice' }]);
  });

  it('an application can insert a user itself after checking the password with assertPasswordAllowed', async () => {
    const common = { code: 'invalid_field', fields: { password: ['This password is too common.'] } };
    const names = { username: 'alice' };
    await expect(app.auth.assertPasswordAllowed('passwordpassword', names)).rejects.toMatchObject(common);
    const short = { fields: { password: ['Ensure this field has at least 15 characters.'] } };
    await expect(app.auth.assertPasswordAllowed('short', names)).rejects.toMatchObject(short);
    const named = { fields: { password: ['This password contains the username.'] } };
    await expect(app.auth.assertPasswordAllowed('here is ALICE again', names)).rejects.toMatchObject(named);
    await app.auth.assertPasswordAllowed(PASSWORD, names);
    const password = await app.auth.hashPassword(PASSWORD);
    await app.dataSource.getRepository(Customer).insert({ email: 'alice', password, fullName: 'Alice' });
    await app.login();
  });
});

/** A user store that records the new user that the library passes. */
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

describe('additional properties of a new user', () => {
  it('a user store receives the additional properties of a new user', async () => {
    const database = await createDatabase('sqlite');
    const app = await start(database, { users: RememberingUsers });
    await app.auth.createUser({ ...ALICE, password: null });
    expect(RememberingUsers.given).toEqual({
      username: 'alice',
      passwordHash: null,
      properties: { fullName: 'Alice' },
    });
    await app.auth.createUser({ username: 'bob', password: null });
    expect(RememberingUsers.given).toEqual({ username: 'bob', passwordHash: null });
    await app.close();
    await database.drop();
  });

  it("createUser refuses additional properties for the library's own users, because AuthUser accepts no properties", async () => {
    const database = await createDatabase('sqlite');
    const app = await TestApplication.start({ database, users: [] });
    const message = "received the property 'fullName', not a column of AuthUser; map your own entity";
    await expect(app.auth.createUser(ALICE)).rejects.toThrow(message);
    await app.auth.createUser({ ...ALICE, properties: {} });
    await app.login();
    await app.close();
    await database.drop();
  });
});

/** Hashes passwords, and folds names, of every row that is inserted. */
@EventSubscriber()
class ChangingSubscriber implements EntitySubscriberInterface<Customer> {
  static change: (customer: Customer) => void;

  listenTo(): typeof Customer {
    return Customer;
  }

  beforeInsert({ entity }: InsertEvent<Customer>): void {
    ChangingSubscriber.change(entity);
  }
}

describe.each(DATABASES)('createUser beside a subscriber of the application on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase(name);
    const options = { ...database.options, subscribers: [ChangingSubscriber] } as DataSourceOptions;
    app = await start({ ...database, options }, { users: CUSTOMERS });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const hashAgain = (customer: Customer): void => {
    customer.password = createHash('sha256').update(customer.password).digest('hex');
  };
  const lowerName = (customer: Customer): void => {
    customer.email = customer.email.toLowerCase();
  };

  it.each([
    ['the hash', 'password', hashAgain],
    ['the name', 'email', lowerName],
  ])(
    'a user of whom a subscriber changes %s is not created, and the error names the property',
    async (_, property, change) => {
      ChangingSubscriber.change = change;
      const user = { ...ALICE, username: 'Alice' };
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

  it('a user whom a subscriber changes in other properties is created', async () => {
    ChangingSubscriber.change = (customer) => (customer.fullName = 'Bob');
    await app.auth.createUser({ ...ALICE, username: 'bob' });
    await app.login('bob');
  });
});
