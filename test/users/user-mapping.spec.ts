import { AUTH_ENTITIES_WITHOUT_USERS, type UserEntityMapping } from 'nestjs-session-auth';
import { hashSync } from 'bcrypt';
import {
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  ManyToOne,
  PrimaryGeneratedColumn,
  TableInheritance,
  Unique,
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
import { entityOf, GENERATED_ID, mappedUsers, TEXT, UNIQUE_TEXT } from '../support/mapped-users';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { TestApplication, PASSWORD } from '../support/test-application';

const ANY_VALUE = { to: (value: unknown) => value, from: (value: unknown) => value };

class Profile {
  @Column({ type: Boolean, default: true })
  isActive!: boolean;
}

@Entity('staff')
@TableInheritance({ column: { type: 'varchar', name: 'kind' } })
class Staff extends entityOf('StaffColumns', {
  email: TEXT,
  password: TEXT,
  nickname: { type: 'varchar', transformer: ANY_VALUE },
  isBanned: { type: Boolean, default: false, transformer: ANY_VALUE },
  disabledAt: { type: Date, nullable: true },
  createdAt: { type: Date },
  note: { type: 'varchar', nullable: true },
  level: { type: Number, default: 1 },
}) {
  @PrimaryGeneratedColumn()
  id!: number;

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

const Seat = entityOf('Seat', {
  row: { type: 'int', primary: true },
  column: { type: 'int', primary: true },
  name: TEXT,
});
const Stranger = entityOf('Stranger', { id: GENERATED_ID });

/** Columns that can, or cannot, contain folded names. */
const Signup = entityOf('Signup', {
  id: GENERATED_ID,
  email: TEXT,
  password: TEXT,
  good: UNIQUE_TEXT,
  alsoGood: TEXT,
  first: TEXT,
  second: TEXT,
  indexed: TEXT,
  sometimes: TEXT,
  count: { type: 'int', unique: true },
  transformed: { type: 'varchar', unique: true, transformer: ANY_VALUE },
  readOnly: { type: 'varchar', unique: true, insert: false, default: '' },
});
Index({ unique: true })(Signup.prototype, 'alsoGood');
Index()(Signup.prototype, 'indexed');
Index({ unique: true, where: 'email IS NOT NULL' })(Signup.prototype, 'sometimes');
Unique(['first', 'second'])(Signup);

/** A column that the database fills. */
const Draft = entityOf('Draft', {
  id: GENERATED_ID,
  email: TEXT,
  password: TEXT,
  generated: { type: 'varchar', unique: true, asExpression: 'LOWER(email)', generatedType: 'STORED' },
});

const ENTITIES: readonly (new () => object)[] = [Staff, Manager, Seat, Signup, Draft];
const HASH = hashSync(PASSWORD, 4);

/** Returns the error that prevents startup with these properties instead of the usual ones, or null. */
function startError(database: TestDatabase, given: object, entities = ENTITIES): Promise<string | null> {
  const users = { entity: Staff, username: 'email', passwordHash: 'password', ...given };
  const nameMatching = 'foldedUsername' in given ? ('insensitive' as const) : ('exact' as const);
  const auth = { users, nameMatching };
  return TestApplication.startError({
    database,
    entities: [...entities, ...AUTH_ENTITIES_WITHOUT_USERS],
    users: [],
    auth,
  });
}

const folded = (foldedUsername: string): object => ({ entity: Signup, foldedUsername });

describe.each(DATABASES)('the mapping of the users on %s', (name) => {
  let database: TestDatabase;

  beforeAll(async () => void (database = await createDatabase(name)));
  afterAll(() => database.drop());

  it.each<[string, object, RegExp]>([
    ['an unknown property', { username: 'mail' }, /username is 'mail', which is not a column of Staff; use one/],
    ['a property without a column', { active: 'isOnline' }, /active is 'isOnline', which is not a column/],
    ['a name with a value transformer', { username: 'nickname' }, /username is 'nickname', which has a value trans/],
    ['a flag with a value transformer', { active: 'isBanned' }, /active is 'isBanned', which has a value transformer/],
    ['a date as `active`', { active: 'disabledAt' }, /active is 'disabledAt', a nullable column .*use disabledAt/],
    ['a string as `active`', { active: 'note' }, /active is 'note', a nullable column of type .*UserStore/],
    ['a number as `active`', { active: 'level' }, /active is 'level', a column of type int.*UserStore/],
    ['a flag as `disabledAt`', { disabledAt: 'profile.isActive' }, /disabledAt is 'profile\.isActive', a .*UserStore/],
    [
      'a date that is never null as `disabledAt`',
      { disabledAt: 'createdAt' },
      /disabledAt is 'createdAt', a column of/,
    ],
    [
      'the date of deletion as `disabledAt`',
      { disabledAt: 'deletedAt' },
      /'deletedAt', the @DeleteDateColumn; leave it/,
    ],
    ['an unknown property to select', { select: ['role'] }, /select names 'role', which is not a column of Staff; u/],
    ['a property without a column to select', { select: ['isOnline'] }, /select names 'isOnline', which is not a c/],
    ['the hash to select', { select: ['note', 'password'] }, /select names 'password', the password hash.*leave it/],
    ['the id to select', { select: ['id'] }, /select names 'id', which request\.user always contains; leave i/],
    ['a relation to select', { select: ['leader'] }, /select names 'leader', a relation, .*UserStore/],
    ['a string instead of a list to select', { select: 'note' }, /select is 'note'; use a list of property names/],
    ['undefined instead of a list to select', { select: undefined }, /select is undefined; use a list of .*, or omit/],
    ['two flags', { active: 'profile.isActive', disabledAt: 'disabledAt' }, /set only one of them/],
    ['an unknown key', { isActive: 'isActive' }, /isActive is not an option; use one of users\.entity/],
    ['an entity with two primary columns', { entity: Seat, username: 'name' }, /entity is Seat, which has 2 primary/],
    ['an entity within the table of another', { entity: Manager }, /entity is Manager, which has no table .*UserStore/],
    [
      'an entity of no DataSource',
      { entity: Stranger },
      /entity is Stranger, which is not an entity of the DataSource/,
    ],
    ['a folded name that does not exist', folded('folded'), /'folded', which is not a column of Signup; use one of/],
    ['a folded name that is not unique', folded('indexed'), /'indexed', a column of type .*varchar.*unique: true/],
    ['a folded name that is unique with another column', folded('first'), /'first', a column of type .*on it alone/],
    ['a folded name that is unique under a condition', folded('sometimes'), /'sometimes', a column of type/],
    ['a folded name that is a number', folded('count'), /'count', a column of type int/],
    ['a folded name with a value transformer', folded('transformed'), /'transformed', which has a value transformer/],
    ['a folded name that is never inserted', folded('readOnly'), /'readOnly', a column .*that the library fills/],
    [
      'a folded name that the database fills',
      { entity: Draft, foldedUsername: 'generated' },
      /foldedUsername is 'generated', a .*the library fills/,
    ],
    ['several problems', { username: 'mail', active: 'note' }, /username is 'mail'[^]*users\.active is 'note'/],
  ])('a mapping with %s prevents startup', async (_, mapping, problem) => {
    expect(await startError(database, mapping)).toMatch(problem);
  });

  it.each([
    {},
    { active: 'profile.isActive' },
    { disabledAt: 'disabledAt' },
    { select: [] },
    { select: ['nickname', 'profile.isActive', 'deletedAt'] },
    folded('good'),
    folded('alsoGood'),
  ])('the mapping %j is accepted', async (mapping) => {
    expect(await startError(database, mapping)).toBeNull();
  });

  it('a user is disabled if and only if `disabledAt` is set', async () => {
    const users = { entity: Staff, username: 'email', passwordHash: 'password', disabledAt: 'disabledAt' };
    const app = await startForTest(name, mappedUsers(users));
    const staff = app.dataSource.getRepository(Staff);
    const defaults = { password: HASH, nickname: '', createdAt: new Date() };
    const { id } = await staff.save({ ...defaults, email: 'alice' });
    await staff.insert({ ...defaults, email: 'bob', disabledAt: new Date() });
    await expect(app.login('bob')).rejects.toThrow('login: 400');
    const { access_token: token, refresh_token: refreshToken } = await app.login('alice');
    await app.get('/me', token).expect(200);
    await staff.update({ email: 'alice' }, { disabledAt: new Date() });
    await app.get('/me', token).expect(401);
    await staff.update({ email: 'alice' }, { disabledAt: null });
    await app.get('/me', token).expect(401);
    await app.refresh(refreshToken).expect(400);
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_disabled']);

    const session = await app.login('alice');
    await app.auth.disableUser(id);
    await app.get('/me', session.access_token).expect(401);
    const { disabledAt } = await staff.findOneByOrFail({ id });
    expect(Math.abs(disabledAt!.getTime() - app.clock.now())).toBeLessThan(1_000);
    await expect(app.login('alice')).rejects.toThrow('login: 400');
    await app.auth.enableUser(id);
    expect(await staff.findOneByOrFail({ id })).toMatchObject({ disabledAt: null });
    await app.login('alice');
  });
});

describeOn('mysql')('column types of MySQL', (name) => {
  /** A table definition that another program created. */
  @Entity('drivers')
  class Driver extends entityOf('DriverColumns', { id: GENERATED_ID, email: TEXT, password: TEXT }) {
    @Column({ type: 'tinyint', default: 1 })
    isActive!: boolean;

    @Column({ type: 'tinyint', default: 1 })
    status!: number;

    /** TypeORM reads this column with a function of the database. */
    @Column({ type: 'point', nullable: true })
    position!: string | null;
  }

  it.each([
    ['tinyint is accepted as `active` if the property is a boolean', { active: 'isActive' }, ''],
    [
      'tinyint is refused as `active` if the property is a number',
      { active: 'status' },
      "active is 'status', a column",
    ],
    [
      'a spatial type is refused in `users.select`',
      { select: ['position'] },
      "select names 'position', a column of type",
    ],
  ])('a column of type %s', async (_, mapping, problem) => {
    const error = await startError(await databaseForTest(name), { entity: Driver, ...mapping }, [Driver]);
    if (problem === '') expect(error).toBeNull();
    else expect(error).toContain(`users.${problem}`);
  });
});

describeEachPooled('columns of type char on %s', (name) => {
  /** Fixed-length columns, which PostgreSQL pads with spaces. */
  const Guest = entityOf('Guest', {
    id: GENERATED_ID,
    email: UNIQUE_TEXT,
    badge: { type: 'char', length: 40, unique: true },
    password: { type: 'char', length: 60 },
    longPassword: { type: 'char', length: 100, default: '' },
  });

  it.each([
    ['username', 'badge', /users\.username is 'badge', a column of type character; use .*varchar or text/],
    ['passwordHash', 'longPassword', /users\.passwordHash is 'longPassword', a column .*; use .*varchar or text/],
  ])(
    'a column of type char as `%s` prevents startup if the database pads the values',
    async (option, property, problem) => {
      const error = await startError(await databaseForTest(name), { entity: Guest, [option]: property }, [Guest]);
      if (DIALECTS[name] === 'postgres') expect(error).toMatch(problem);
      else expect(error).toBeNull();
    },
  );

  it('a column of type char prevents startup as the column of folded names', async () => {
    const mapping = { entity: Guest, foldedUsername: 'badge' };
    const error = await startError(await databaseForTest(name), mapping, [Guest]);
    expect(error).toMatch(/users\.foldedUsername is 'badge', a column of type char/);
  });

  it('a column of type char is accepted for hashes of exactly its length', async () => {
    const users: UserEntityMapping = { entity: Guest, username: 'email', passwordHash: 'password' };
    const app = await startForTest(name, mappedUsers(users));
    await app.dataSource.getRepository(Guest).insert({ email: 'alice', badge: '', password: HASH });
    await app.login('alice');
  });
});
