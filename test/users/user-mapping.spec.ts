import { AUTH_ENTITIES_WITHOUT_USERS } from 'nestjs-session-auth';
import { hashSync } from 'bcrypt';
import {
  ChildEntity,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  Index,
  ManyToOne,
  TableInheritance,
  Unique,
  VirtualColumn,
} from 'typeorm';
import { mappingProblems } from '../../libs/auth/src/users/mapping-problems';
import { createDatabase, DATABASES, type Dialect, DIALECTS, type TestDatabase } from '../support/databases';
import {
  entityOf,
  GENERATED_ID,
  mappedUsers,
  OPTIONAL_TEXT,
  TEXT,
  TEXT_ID,
  TRUE_BY_DEFAULT,
  UNIQUE_TEXT,
} from '../support/mapped-users';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { TestApplication, PASSWORD } from '../support/test-application';

const ANY_VALUE = { to: (value: unknown) => value, from: (value: unknown) => value };

const Staff = entityOf('Staff', {
  id: GENERATED_ID,
  email: TEXT,
  password: TEXT,
  nickname: { type: 'varchar', transformer: ANY_VALUE },
  disabledAt: { type: Date, nullable: true },
  createdAt: { type: Date },
  note: OPTIONAL_TEXT,
  realm: OPTIONAL_TEXT,
  level: { type: Number, default: 1 },
});
TableInheritance({ column: { type: 'varchar', name: 'kind' } })(Staff);
DeleteDateColumn()(Staff.prototype, 'deletedAt');
VirtualColumn('int', { query: () => 'SELECT 1' })(Staff.prototype, 'isOnline');
Column(() => entityOf('Profile', { isActive: TRUE_BY_DEFAULT }))(Staff.prototype, 'profile');
ManyToOne(() => Staff, { nullable: true })(Staff.prototype, 'leader');

@ChildEntity()
class Manager extends Staff {}

const Seat = entityOf('Seat', {
  row: { type: 'int', primary: true },
  column: { type: 'int', primary: true },
  name: TEXT,
});
const Named = entityOf('Named', { email: TEXT_ID, tenant: TEXT, password: TEXT });
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
  readOnly: { type: 'varchar', unique: true, insert: false, default: '' },
  generated: { type: 'varchar', unique: true, asExpression: 'LOWER(email)', generatedType: 'STORED' },
});
Index({ unique: true })(Signup.prototype, 'alsoGood');
Index()(Signup.prototype, 'indexed');
Index({ unique: true, where: 'email IS NOT NULL' })(Signup.prototype, 'sometimes');
Unique(['first', 'second'])(Signup);

/** Columns of a fixed length, which PostgreSQL pads with spaces. SQLite has no such type. */
const Guest = entityOf('Guest', {
  id: GENERATED_ID,
  email: UNIQUE_TEXT,
  badge: { type: 'char', length: 40, unique: true },
  password: { type: 'char', length: 60 },
  longPassword: { type: 'char', length: 100, default: '' },
});

/** A column of PostgreSQL that ignores case. */
const Subscriber = entityOf('Subscriber', {
  id: GENERATED_ID,
  email: { type: 'citext', unique: true },
  password: TEXT,
});

/** A table of MySQL that another program created. */
@Entity('drivers')
class Driver extends entityOf('DriverColumns', {
  id: GENERATED_ID,
  email: TEXT,
  password: TEXT,
  status: { type: 'tinyint', default: 1 },
  // TypeORM reads this column with a function of the database.
  position: { type: 'point', nullable: true },
}) {
  @Column({ type: 'tinyint', default: 1 })
  isActive!: boolean;
}

const ENTITIES = { sqlite: [], postgres: [Guest, Subscriber], mysql: [Guest, Driver] };
type Row = readonly [string, object, RegExp];
const OF_FIXED_LENGTH = [
  'a folded name of type char',
  { entity: Guest, foldedUsername: 'badge' },
  /'badge', a column/,
] as const;
const TEXT_ONLY = /'(badge|longPassword)', a column of type character; use .*varchar or text/;
/** Mappings of columns that only some databases have. */
const REFUSED: Record<Dialect, readonly Row[]> = {
  sqlite: [],
  postgres: [
    OF_FIXED_LENGTH,
    ['a padded name', { entity: Guest, username: 'badge' }, TEXT_ONLY],
    ['a padded hash', { entity: Guest, passwordHash: 'longPassword' }, TEXT_ONLY],
  ],
  mysql: [
    OF_FIXED_LENGTH,
    ['a number of type tinyint as `active`', { entity: Driver, active: 'status' }, /active is 'status', a column/],
    ['a spatial column', { entity: Driver, select: ['position'] }, /select names 'position', a column of type/],
  ],
};
const HASH = hashSync(PASSWORD, 4);
const USERS = { entity: Staff, username: 'email', passwordHash: 'password' };
const folded = (foldedUsername: string): object => ({ entity: Signup, foldedUsername });

describe.each(DATABASES)('the mapping of the users on %s', (name) => {
  const dialect = DIALECTS[name];
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createDatabase(name);
    const entities = [Staff, Manager, Seat, Named, Signup, ...ENTITIES[dialect]];
    dataSource = await new DataSource({ ...database.options, entities }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it.each<Row>([
    ['an unknown property', { username: 'mail' }, /username is 'mail', which is not a column of Staff; use one/],
    ['a property without a column', { active: 'isOnline' }, /active is 'isOnline', which is not a column/],
    ['a name with a value transformer', { username: 'nickname' }, /username is 'nickname', which has a value trans/],
    ['roles with a value transformer', { roles: 'nickname' }, /roles is 'nickname', which has a value transformer/],
    [
      'a number as one of several names',
      { username: ['email', 'level'] },
      /username is 'level', a column of type int\w*; use the name of a column of type varchar or text/,
    ],
    ['a date as `active`', { active: 'disabledAt' }, /active is 'disabledAt', a nullable column .*use disabledAt/],
    ['a number as `active`', { active: 'level' }, /active is 'level', a column of type int.*UserStore/],
    ['a flag as `disabledAt`', { disabledAt: 'profile.isActive' }, /disabledAt is 'profile\.isActive', a .*UserStore/],
    ['a `disabledAt` that is never null', { disabledAt: 'createdAt' }, /disabledAt is 'createdAt', a column of/],
    ['the date of deletion', { disabledAt: 'deletedAt' }, /'deletedAt', the @DeleteDateColumn; leave it/],
    ['an unknown property to select', { select: ['role'] }, /select names 'role', which is not a column of Staff; u/],
    ['a property without a column to select', { select: ['isOnline'] }, /select names 'isOnline', which is not a c/],
    ['the hash to select', { select: ['note', 'password'] }, /select names 'password', the password hash.*leave it/],
    ['the hash as roles', { roles: 'password' }, /roles is 'password', the password hash; use another column/],
    ['the id to select', { select: ['id'] }, /select names 'id', but request\.user always has an `id` and a `us/],
    ['a relation to select', { select: ['leader'] }, /select names 'leader', a relation, .*UserStore/],
    ['a realm that is no column', { realm: 'team' }, /realm is 'team', which is not a column of Staff; use one/],
    ['a realm that is a number', { realm: 'level' }, /realm is 'level', a column of type int.*text; .*UserStore/],
    ['the realm to select', { realm: 'realm', select: ['realm'] }, /select names 'realm', .*by users\.realm; leave it/],
    ['a realm and a name as the id', { entity: Named, realm: 'tenant' }, /key is the name 'email', which two realms/],
    ['an entity with two primary columns', { entity: Seat, username: 'name' }, /entity is Seat, which has 2 primary/],
    ['an entity within the table of another', { entity: Manager }, /entity is Manager, which has no table .*UserStore/],
    [
      'an entity of no DataSource',
      { entity: Stranger },
      /entity is Stranger, which is not an entity of the DataSource/,
    ],
    ['a folded name that is not unique', folded('indexed'), /'indexed', a column of type .*varchar.*unique: true/],
    ['a folded name that is unique with another column', folded('first'), /'first', a column of type .*on it alone/],
    ['a folded name that is unique under a condition', folded('sometimes'), /'sometimes', a column of type/],
    ['a folded name that is a number', folded('count'), /'count', a column of type int/],
    ['a folded name that is never inserted', folded('readOnly'), /'readOnly', a column .*that the library fills/],
    ['a folded name of the database', folded('generated'), /foldedUsername is 'generated', a .*the library fills/],
    ...REFUSED[dialect],
  ])('a mapping with %s is refused', (_, mapping, problem) => {
    expect(mappingProblems(dataSource, { ...USERS, ...mapping })).toEqual([expect.stringMatching(problem)]);
  });

  it.each<object>([
    {},
    { active: 'profile.isActive' },
    { disabledAt: 'disabledAt' },
    { select: [] },
    { select: ['nickname', 'profile.isActive', 'deletedAt'] },
    folded('good'),
    folded('alsoGood'),
    ...(dialect === 'sqlite' ? [] : [{ entity: Guest }]),
    ...(dialect === 'postgres' ? [{ entity: Subscriber, foldedUsername: 'email' }] : []),
    ...(dialect === 'mysql' ? [{ entity: Guest, username: 'badge', passwordHash: 'longPassword' }] : []),
    // A boolean, according to its property.
    ...(dialect === 'mysql' ? [{ entity: Driver, active: 'isActive' }] : []),
  ])('the mapping %j is accepted', (mapping) => {
    expect(mappingProblems(dataSource, { ...USERS, ...mapping })).toEqual([]);
  });

  (name === 'sqlite' ? it.skip : it)('a login succeeds if the hashes fill a column of type char', async () => {
    const app = await startForTest(name, mappedUsers({ ...USERS, entity: Guest }));
    await app.dataSource.getRepository(Guest).insert({ email: 'alice', badge: '', password: HASH });
    await app.login('alice');
  });

  it('a user is disabled if and only if `disabledAt` is set', async () => {
    const app = await startForTest(name, mappedUsers({ ...USERS, disabledAt: 'disabledAt' }));
    const staff = app.dataSource.getRepository(Staff);
    const { id } = await staff.save({ email: 'alice', password: HASH, nickname: '', createdAt: new Date() });
    const { access_token: token } = await app.login('alice');
    await app.get('/me', token).expect(200);
    await staff.update({ id }, { disabledAt: new Date() });
    await app.get('/me', token).expect(401);
    await expect(app.login('alice')).rejects.toThrow('login: 400');
    await app.auth.enableUser(id);
    expect(await staff.findOneByOrFail({ id })).toMatchObject({ disabledAt: null });
    await app.login('alice');
    await app.auth.disableUser(id);
    const { disabledAt } = await staff.findOneByOrFail({ id });
    expect(Math.abs(disabledAt!.getTime() - app.clock.now())).toBeLessThan(1_000);
  });
});

it('a mapping with several problems prevents startup, and the error contains all of them', async () => {
  const users = { ...USERS, username: 'mail', active: 'note' };
  const entities = [Staff, Manager, ...AUTH_ENTITIES_WITHOUT_USERS];
  const options = { database: await databaseForTest('sqlite'), entities, users: [], auth: { users } };
  expect(await TestApplication.startError(options)).toMatch(/username is 'mail'[^]*users\.active is 'note'/);
});
