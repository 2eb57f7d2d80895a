import { Injectable } from '@nestjs/common';
import { hashSync } from 'bcrypt';
import {
  AUTH_ENTITIES_WITHOUT_USERS,
  type AuthModuleOptions,
  type NameMatching,
  type NewUser,
  type StoredUser,
  UserStore,
} from 'nestjs-session-auth';
import { DataSource, DeleteDateColumn, Entity, type FindOptionsWhere } from 'typeorm';
import { CountingHasher } from '../support/counting-hasher';
import { DATABASES, type DatabaseName } from '../support/databases';
import { entityOf, GENERATED_ID, OPTIONAL_TEXT, TEXT } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { type TestApplication, PASSWORD } from '../support/test-application';
import { fullWidth, SPELLINGS, tryLogin, workOf } from '../support/spellings';
import { Tap } from '../support/tap';

/**
 * A table with the default collation, which ignores case, accents and trailing spaces on MariaDB. The column `lax`
 * contains the name without these, for databases that compare bytes.
 */
@Entity('members')
class Member extends entityOf('Columns', { id: GENERATED_ID, name: TEXT, lax: OPTIONAL_TEXT, hash: OPTIONAL_TEXT }) {
  @DeleteDateColumn()
  deletedAt!: Date | null;
}

/** A user store whose database treats many spellings as one name. */
@Injectable()
class LaxUsers extends UserStore {
  /** The names with which the library called `findByUsername`. */
  static asked: string[] = [];
  private readonly members;

  constructor(dataSource: DataSource) {
    super();
    this.members = dataSource.getRepository(Member);
  }

  override findByUsername(username: string): Promise<StoredUser | null> {
    LaxUsers.asked.push(username);
    // MariaDB's default collation ignores accents and trailing spaces. That of MySQL does not ignore these spaces.
    const isLax = this.members.manager.dataSource.options.type === 'mariadb';
    return this.find(isLax ? { name: username } : { lax: lax(username) });
  }

  override findById(id: string): Promise<StoredUser | null> {
    return this.find({ id: Number(id) });
  }

  /** Returns the user who already has the name, as some stores do. */
  override async create({ username, passwordHash }: NewUser): Promise<StoredUser | null> {
    const existing = await this.findByUsername(username);
    if (!existing) await this.members.insert({ name: username, lax: lax(username), hash: passwordHash });
    return existing ?? this.findByUsername(username);
  }

  private async find(where: FindOptionsWhere<Member>): Promise<StoredUser | null> {
    const member = await this.members.findOneBy(where);
    return member && { id: String(member.id), username: member.name, passwordHash: member.hash, active: true };
  }
}

const hasher = new CountingHasher();
const HASH = hashSync(PASSWORD, 4);
const ENTITIES = [Member, ...AUTH_ENTITIES_WITHOUT_USERS];
const MAPPING = { entity: Member, username: 'name', passwordHash: 'hash' };

function lax(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trimEnd();
}

async function start(
  database: DatabaseName,
  users: NonNullable<AuthModuleOptions['users']>,
  nameMatching: NameMatching,
  names = ['alice'],
): Promise<TestApplication> {
  const auth = { users, nameMatching, passwordHasher: hasher };
  const app = await startForTest(database, { entities: ENTITIES, users: [], auth });
  // `createUser` refuses without a unique index, and a unique index of MariaDB would refuse most spellings.
  const rows = names.map((name) => ({ name, lax: lax(name), hash: HASH }));
  await app.dataSource.getRepository(Member).insert(rows);
  return app;
}

describe.each(DATABASES)('40 spellings of a name with exact matching on %s', (name) => {
  let app: TestApplication;
  const members = () => app.dataSource.getRepository(Member);

  it.each([
    ['a mapped entity', MAPPING],
    ['a user store whose database ignores case, accents and trailing spaces', LaxUsers],
  ])(
    '40 spellings are 40 different names in %s, and guesses under all of them verify at most ten passwords',
    async (_, users) => {
      app = await start(name, users, 'exact');
      expect(new Set(SPELLINGS).size).toBe(40);
      hasher.verified.length = 0;
      const refusals = new Set<string>();
      for (const one of [...SPELLINGS, ...Array<string>(11).fill('alice')]) {
        refusals.add(await tryLogin(app, one, 'wrong'));
      }
      expect(hasher.verified.filter((one) => one === HASH)).toHaveLength(10);
      expect(refusals).toEqual(new Set(['invalid_credentials', 'too_many_attempts']));
      await app.reset();
      const others = SPELLINGS.filter((one) => one !== 'alice');
      for (const other of others) expect(await tryLogin(app, other, PASSWORD)).toBe('invalid_credentials');
      expect(await tryLogin(app, 'alice', PASSWORD)).toBe('ok');
    },
  );

  it('40 users of a mapped entity can have the 40 spellings, and each logs in as themselves', async () => {
    const spellings = [...SPELLINGS.slice(1), 'alice'];
    app = await start(name, MAPPING, 'exact', spellings);
    for (const spelling of spellings) {
      await app.login(spelling);
      const { userId } = app.sent('user_logged_in')[0]!;
      const member = await members().findOneByOrFail({ id: Number(userId) });
      expect(member.name).toBe(spelling);
      await app.reset();
    }
  });

  it('a soft-deleted user is refused, and restoring the row restores no session', async () => {
    app = await start(name, MAPPING, 'exact');
    const session = await app.login();
    await members().softDelete({ name: 'alice' });
    await app.get('/me', session.access_token).expect(401);
    expect(await tryLogin(app, 'alice', PASSWORD)).toBe('invalid_credentials');
    await members().restore({ name: 'alice' });
    await app.get('/me', session.access_token).expect(401);
    await app.refresh(session.refresh_token).expect(400);
    expect(await tryLogin(app, 'alice', PASSWORD)).toBe('ok');
  });

  it('a login succeeds although many deleted users had the same name', async () => {
    app = await start(name, MAPPING, 'exact');
    const { id } = await members().findOneByOrFail({ name: 'alice' });
    const deleted = { name: 'alice', hash: HASH, deletedAt: new Date() };
    for (let i = 0; i < 12; i++) await members().insert({ ...deleted, id: -1 - i });
    // PostgreSQL then reads this row last.
    await members().update(id, { lax: null });
    expect(await tryLogin(app, 'alice', PASSWORD)).toBe('ok');
    expect(app.sent('user_logged_in').at(-1)!.userId).toBe(id);
  });

  it('a login with a similar spelling of a stored name runs the SQL and hashing of an unknown name', async () => {
    app = await start(name, LaxUsers, 'exact');
    const tap = new Tap(app);
    const login = (username: string) =>
      workOf(tap, hasher, async () => expect(await tryLogin(app, username, PASSWORD)).toBe('invalid_credentials'));
    const unknown = await login('nobody');
    expect(await login('Alice')).toEqual(unknown);
    expect(app.sent('login_failed').map(({ userId }) => userId)).toEqual([null, null]);
    expect(app.logs.filter((line) => line.includes('another name'))).toEqual([
      expect.stringMatching(
        /^findByUsername\(\) of the user store returned a user with another name, .*'exact', .* byte by byte\./,
      ),
    ]);
  });
});

describe.each(DATABASES)('a user store with case-insensitive names, with sessions on %s', (name) => {
  let app: TestApplication;

  beforeEach(async () => void (app = await start(name, LaxUsers, 'insensitive')));

  it('the store receives folded names, and all names with one folded form are those of one user', async () => {
    LaxUsers.asked = [];
    for (const spelling of ['alice', 'ALICE', fullWidth('Alice')]) {
      expect(await tryLogin(app, spelling, PASSWORD)).toBe('ok');
    }
    expect(new Set(LaxUsers.asked)).toEqual(new Set(['alice']));
    for (const other of ['\u00e1lice', 'alice ']) {
      expect(await tryLogin(app, other, PASSWORD)).toBe('invalid_credentials');
    }
  });

  it('a login finds nobody if the user store returns a user with a different name', async () => {
    const mine = { hash: await hasher.hash('the password of mallory'), lax: 'bob' };
    await app.dataSource.getRepository(Member).insert({ ...mine, name: 'b\u00f3b' });
    expect(await tryLogin(app, 'bob', 'the password of mallory')).toBe('invalid_credentials');
    expect(await tryLogin(app, 'b\u00f3b', 'the password of mallory')).toBe('ok');
  });

  it.each(['Alice', fullWidth('alice'), '\u00e1lice', 'alice '])(
    'the user %j is not created if the store treats the name as that of alice, and the sessions of alice continue',
    async (username) => {
      const { access_token: token } = await app.login();
      const create = app.auth.createUser({ username, password: PASSWORD });
      await expect(create).rejects.toMatchObject({ code: 'username_taken' });
      await app.get('/me', token).expect(200);
      expect(await app.dataSource.getRepository(Member).count()).toBe(1);
    },
  );
});
