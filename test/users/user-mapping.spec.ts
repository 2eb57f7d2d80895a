import { AUTH_ENTITIES_WITHOUT_USERS, AuthService } from 'nestjs-session-auth';
import { hashSync } from 'bcrypt';
import {
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  VirtualColumn,
} from 'typeorm';
import {
  createDatabase,
  DATABASES,
  describeEachPooled,
  describeOn,
  DIALECTS,
  type TestDatabase,
} from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';

const lowerCase = { to: (value: string) => value.toLowerCase(), from: (value: string) => value };

class Profile {
  @Column({ type: Boolean, default: true })
  isActive!: boolean;
}

@Entity('staff')
@TableInheritance({ column: { type: 'varchar', name: 'kind' } })
class Staff {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar' })
  email!: string;

  @Column({ type: 'varchar' })
  password!: string;

  @Column({ type: 'varchar', transformer: lowerCase })
  nickname!: string;

  @Column({ type: Boolean, default: false, transformer: { to: (value: unknown) => value, from: Boolean } })
  isBanned!: boolean;

  @Column({ type: Date, nullable: true })
  disabledAt!: Date | null;

  @Column({ type: Date })
  createdAt!: Date;

  @Column({ type: 'varchar', nullable: true })
  note!: string | null;

  @Column({ type: Number, default: 1 })
  level!: number;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @VirtualColumn({ query: () => 'SELECT 1' })
  isOnline!: boolean;

  @Column(() => Profile)
  profile!: Profile;

  @ManyToOne(() => Staff, { nullable: true })
  leader!: Staff | null;
}

@ChildEntity()
class Manager extends Staff {}

@Entity('seats')
class Seat {
  @PrimaryColumn('int')
  row!: number;

  @PrimaryColumn('int')
  column!: number;

  @Column({ type: 'varchar' })
  name!: string;
}

/** Table definitions that other programs created for MySQL. */
@Entity('drivers')
class Driver {
  @PrimaryColumn('int')
  id!: number;

  @Column({ type: 'varchar' })
  email!: string;

  @Column({ type: 'varchar' })
  password!: string;

  @Column({ type: 'tinyint', default: 1 })
  isActive!: boolean;

  @Column({ type: 'tinyint', default: 1 })
  status!: number;
}

/** A column that TypeORM reads with a function of the database. */
@Entity('couriers')
class Courier {
  @PrimaryColumn('int')
  id!: number;

  @Column({ type: 'varchar' })
  email!: string;

  @Column({ type: 'varchar' })
  password!: string;

  @Column({ type: 'point', nullable: true })
  position!: string | null;
}

/** Fixed-length columns, which PostgreSQL pads with spaces. */
@Entity('guests')
class Guest {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', unique: true })
  email!: string;

  @Column({ type: 'char', length: 40, default: '' })
  badge!: string;

  @Column({ type: 'char', length: 60 })
  password!: string;

  @Column({ type: 'char', length: 100, default: '' })
  longPassword!: string;
}

@Entity('strangers')
class Stranger {
  @PrimaryColumn('int')
  id!: number;
}

const ENTITIES = [Staff, Manager, Seat, ...AUTH_ENTITIES_WITHOUT_USERS];
const HASH = hashSync(PASSWORD, 4);

function startError(database: TestDatabase, mapping: object, entities = ENTITIES): Promise<string | null> {
  const users = { entity: Staff, username: 'email', passwordHash: 'password', ...mapping };
  return TestApplication.startError({ database, entities, users: [], auth: { users } });
}

describe.each(DATABASES)('the mapping of the users on %s', (name) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  it.each([
    ['an unknown property', { username: 'mail' }, /users\.username is 'mail', which is not a column of Staff; use one/],
    ['a property without a column', { active: 'isOnline' }, /users\.active is 'isOnline', which is not a column/],
    [
      'a name with a value transformer',
      { username: 'nickname' },
      /users\.username is 'nickname', which has a value tr/,
    ],
    ['a flag with a value transformer', { active: 'isBanned' }, /users\.active is 'isBanned', which has a value trans/],
    [
      'a date as `active`',
      { active: 'disabledAt' },
      /users\.active is 'disabledAt', a nullable column of type .*use disabledAt/,
    ],
    ['a string as `active`', { active: 'note' }, /users\.active is 'note', a nullable column of type .*UserStore/],
    ['a number as `active`', { active: 'level' }, /users\.active is 'level', a column of type int.*UserStore/],
    [
      'a flag as `disabledAt`',
      { disabledAt: 'profile.isActive' },
      /users\.disabledAt is 'profile\.isActive', a .*column of type .*UserStore/,
    ],
    [
      'a date that is never null as `disabledAt`',
      { disabledAt: 'createdAt' },
      /users\.disabledAt is 'createdAt', a column of type/,
    ],
    [
      'the date of deletion as `disabledAt`',
      { disabledAt: 'deletedAt' },
      /users\.disabledAt is 'deletedAt', the @DeleteDateColumn; leave it out/,
    ],
    [
      'an unknown property to select',
      { select: ['role'] },
      /users\.select names 'role', which is not a column of Staff; u/,
    ],
    [
      'a property without a column to select',
      { select: ['isOnline'] },
      /users\.select names 'isOnline', which is not a c/,
    ],
    [
      'the hash to select',
      { select: ['note', 'password'] },
      /users\.select names 'password', the password hash.*leave it/,
    ],
    ['the id to select', { select: ['id'] }, /users\.select names 'id', which request\.user always contains; leave i/],
    ['a relation to select', { select: ['leader'] }, /users\.select names 'leader', a relation, .*UserStore/],
    [
      'a string instead of a list to select',
      { select: 'note' },
      /users\.select is 'note'; use a list of property names/,
    ],
    [
      'undefined instead of a list to select',
      { select: undefined },
      /users\.select is undefined; use a list of .*, or omit it/,
    ],
    [
      'both `active` and `disabledAt`',
      { active: 'profile.isActive', disabledAt: 'disabledAt' },
      /set only one of them/,
    ],
    ['an unknown key', { isActive: 'isActive' }, /users\.isActive is not an option; use one of users\.entity/],
    [
      'an entity with two primary columns',
      { entity: Seat, username: 'name', passwordHash: 'name' },
      /users\.entity is Seat, which has 2 primary columns/,
    ],
    [
      'an entity within the table of another',
      { entity: Manager },
      /users\.entity is Manager, which has no table of its own.*UserStore/,
    ],
    [
      'an entity of no DataSource',
      { entity: Stranger },
      /users\.entity is Stranger, which is not an entity of the DataSource/,
    ],
  ])('a mapping with %s prevents startup', async (_, mapping, problem) => {
    expect(await startError(database, mapping)).toMatch(problem);
  });

  it('all problems of a mapping are reported together', async () => {
    const error = await startError(database, { username: 'mail', active: 'note' });
    expect(error).toMatch(/users\.username is 'mail'[^]*users\.active is 'note'/);
  });

  it.each([
    {},
    { active: 'profile.isActive' },
    { disabledAt: 'disabledAt' },
    { select: [] },
    { select: ['nickname', 'profile.isActive', 'deletedAt'] },
  ])('the mapping %j is accepted', async (mapping) => {
    expect(await startError(database, mapping)).toBeNull();
  });

  it('a user is disabled if and only if `disabledAt` is set', async () => {
    const users = { entity: Staff, username: 'email', passwordHash: 'password', disabledAt: 'disabledAt' };
    const app = await TestApplication.start({ database, entities: ENTITIES, users: [], auth: { users } });
    const staff = app.dataSource.getRepository(Staff);
    const defaults = { password: HASH, nickname: '', createdAt: new Date() };
    await staff.insert([
      { ...defaults, email: 'alice' },
      { ...defaults, email: 'bob', disabledAt: new Date() },
    ]);
    await expect(app.login('bob')).rejects.toThrow('login: 400');
    const { access_token: token, refresh_token: refreshToken } = await app.login('alice');
    await app.get('/me', token).expect(200);
    await staff.update({ email: 'alice' }, { disabledAt: new Date() });
    await app.get('/me', token).expect(401);
    await staff.update({ email: 'alice' }, { disabledAt: null });
    await app.get('/me', token).expect(401);
    await app.refresh(refreshToken).expect(400);
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_disabled']);

    const { id } = await staff.findOneByOrFail({ email: 'alice' });
    const session = await app.login('alice');
    await app.nest.get(AuthService).disableUser(id);
    await app.get('/me', session.access_token).expect(401);
    const { disabledAt } = await staff.findOneByOrFail({ email: 'alice' });
    expect(Math.abs(disabledAt!.getTime() - app.clock.now())).toBeLessThan(1_000);
    await expect(app.login('alice')).rejects.toThrow('login: 400');
    await app.nest.get(AuthService).enableUser(id);
    expect(await staff.findOneByOrFail({ email: 'alice' })).toMatchObject({ disabledAt: null });
    await app.login('alice');
    await app.close();
  });
});

describeOn('mysql')('tinyint columns as `active`', (name) => {
  it.each([
    ['is accepted as `active` if the property is a boolean', 'isActive', null],
    [
      'is refused as `active` if the property is a number',
      'status',
      expect.stringContaining("users.active is 'status', a column of type"),
    ],
  ])('a column of type tinyint %s', async (_, active, problem) => {
    const database = await createDatabase(name);
    const entities = [Driver, ...AUTH_ENTITIES_WITHOUT_USERS];
    expect(await startError(database, { entity: Driver, active }, entities)).toEqual(problem);
    await database.drop();
  });
});

describeOn('mysql')('spatial columns in `users.select`', (name) => {
  it('a spatial column in `users.select` prevents startup, because the library reads the column without the conversion by TypeORM', async () => {
    const database = await createDatabase(name);
    const entities = [Courier, ...AUTH_ENTITIES_WITHOUT_USERS];
    expect(await startError(database, { entity: Courier, select: ['position'] }, entities)).toMatch(
      /users\.select names 'position', a column of type point, which TypeORM reads with an SQL function; .*UserStore/,
    );
    expect(await startError(database, { entity: Courier, select: [] }, entities)).toBeNull();
    await database.drop();
  });
});

describeEachPooled('columns of type char on %s', (name) => {
  const entities = [Guest, ...AUTH_ENTITIES_WITHOUT_USERS];
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  it.each([
    ['username', 'badge', /users\.username is 'badge', a column of type character; use .*varchar or text/],
    [
      'passwordHash',
      'longPassword',
      /users\.passwordHash is 'longPassword', a column of type character; use .*varchar or text/,
    ],
  ])(
    'a column of type char as `%s` prevents startup if the database pads the values with spaces',
    async (option, property, problem) => {
      const error = await startError(database, { entity: Guest, [option]: property }, entities);
      if (DIALECTS[name] === 'postgres') expect(error).toMatch(problem);
      else expect(error).toBeNull();
    },
  );

  it('a column of type char is accepted for hashes of exactly its length', async () => {
    const users = { entity: Guest, username: 'email', passwordHash: 'password' };
    const app = await TestApplication.start({ database, entities, users: ['alice'], auth: { users } });
    await app.login('alice');
    await app.close();
  });
});
