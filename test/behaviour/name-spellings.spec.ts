import { Injectable } from '@nestjs/common';
import {
  AUTH_ENTITIES_WITHOUT_USERS,
  type AuthModuleOptions,
  type NameMatching,
  type NewUser,
  type StoredUser,
  UserStore,
} from 'nestjs-session-auth';
import { Column, DataSource, DeleteDateColumn, Entity, type FindOptionsWhere, PrimaryGeneratedColumn } from 'typeorm';
import { CountingHasher } from '../support/counting-hasher';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';
import { fullWidth, guess, SPELLINGS, tryLogin } from '../support/spellings';
import { Tap } from '../support/tap';

/** A table with the collation of the database: that of MariaDB ignores case, accents and trailing spaces. */
@Entity('members')
class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar' })
  name!: string;

  /** The name as MariaDB compares it, for the databases that compare bytes. */
  @Column({ type: 'varchar', nullable: true })
  lax!: string | null;

  @Column({ type: 'varchar', nullable: true })
  hash!: string | null;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

/** A store whose database takes many spellings for one name. */
@Injectable()
class LaxUsers extends UserStore {
  /** What it was asked for. */
  static asked: string[] = [];
  private readonly members;

  constructor(dataSource: DataSource) {
    super();
    this.members = dataSource.getRepository(Member);
  }

  override findByUsername(username: string): Promise<StoredUser | null> {
    LaxUsers.asked.push(username);
    const isLax = this.members.manager.dataSource.options.type === 'mariadb';
    return this.find(isLax ? { name: username } : { lax: lax(username) });
  }

  override findById(id: string): Promise<StoredUser | null> {
    return this.find({ id: Number(id) });
  }

  /** Returns the user who has the name already, as some do. */
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
const ENTITIES = [Member, ...AUTH_ENTITIES_WITHOUT_USERS];
const MAPPING = { entity: Member, username: 'name', passwordHash: 'hash' };

function lax(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trimEnd();
}

function start(
  database: TestDatabase,
  users: NonNullable<AuthModuleOptions['users']>,
  nameMatching: NameMatching,
  names = ['alice'],
): Promise<Host> {
  return Host.start({
    database,
    entities: ENTITIES,
    users: names,
    auth: { users, nameMatching, passwordHasher: hasher },
  });
}

async function hashOf(host: Host, name: string): Promise<string> {
  const { hash } = await host.dataSource.getRepository(Member).findOneByOrFail({ name });
  return hash!;
}

describe.each(DATABASES)('40 spellings of a name, compared byte by byte on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  it.each([
    ['a mapped entity', MAPPING],
    ['a user store whose database ignores case, accents and trailing spaces', LaxUsers],
  ])('are 40 names in %s: guesses under all of them verify no more than ten passwords', async (_, users) => {
    host = await start(database, users, 'exact');
    expect(new Set(SPELLINGS).size).toBe(40);
    const { refusals, verified } = await guess(host, hasher, await hashOf(host, 'alice'), 12);
    expect(verified).toBe(10);
    expect(refusals).toEqual(new Set(['invalid_credentials', 'too_many_attempts']));
    await host.reset();
    const others = SPELLINGS.filter((one) => one !== 'alice');
    for (const other of others) expect(await tryLogin(host, other, PASSWORD)).toBe('invalid_credentials');
    expect(await tryLogin(host, 'alice', PASSWORD)).toBe('ok');
  });

  it('may belong to 40 users of a mapped entity, each of whom logs in as themselves', async () => {
    const spellings = [...SPELLINGS.slice(1), 'alice'];
    host = await start(database, MAPPING, 'exact', spellings);
    for (const spelling of spellings) {
      await host.login(spelling);
      const { userId } = host.sent('user_logged_in')[0]!;
      const member = await host.dataSource.getRepository(Member).findOneByOrFail({ id: Number(userId) });
      expect(member.name).toBe(spelling);
      await host.reset();
    }
  });

  it('are no match where two users have the very same name, unless one of them is deleted', async () => {
    host = await start(database, MAPPING, 'exact');
    const members = host.dataSource.getRepository(Member);
    await members.insert({ name: 'alice', hash: await hashOf(host, 'alice') });
    for (let i = 0; i < 2; i++) expect(await tryLogin(host, 'alice', PASSWORD)).toBe('invalid_credentials');
    expect(host.logs.filter((line) => line.includes('Member'))).toEqual([
      expect.stringMatching(/^Several rows of Member have the same name, .*unique index/),
    ]);
    const [first, second] = await members.find({ order: { id: 'ASC' } });
    for (const [deleted, other] of [
      [first!, second!],
      [second!, first!],
    ]) {
      await members.softDelete(deleted!.id);
      expect(await tryLogin(host, 'alice', PASSWORD)).toBe('ok');
      expect(host.sent('user_logged_in').at(-1)!.userId).toBe(other!.id);
      await members.restore(deleted!.id);
    }
  });

  it('of a user in a store cost the work of an unknown name', async () => {
    host = await start(database, LaxUsers, 'exact');
    const tap = new Tap(host);
    const workOf = async (username: string): Promise<unknown> => {
      const statements: string[] = [];
      tap.hook = { before: ({ sql }) => void statements.push(sql) };
      const hashes = hasher.verified.length;
      expect(await tryLogin(host, username, PASSWORD)).toBe('invalid_credentials');
      tap.hook = {};
      return { statements, verified: hasher.verified.slice(hashes) };
    };
    const [unknown, other] = [await workOf('nobody'), await workOf('Alice')];
    expect(other).toEqual(unknown);
    expect(host.sent('login_failed').map(({ userId }) => userId)).toEqual([null, null]);
    expect(host.logs.filter((line) => line.includes('another name'))).toEqual([
      expect.stringMatching(
        /^The user store returned from findByUsername\(\) a user with another name, .*'exact', .* byte by byte\./,
      ),
    ]);
  });
});

describe.each(DATABASES)('a user store without regard to case and width, with sessions on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeEach(async () => {
    database = await createDatabase(name);
    host = await start(database, LaxUsers, 'insensitive');
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  it('is asked for folded names, so that all spellings find one user and share one failure streak', async () => {
    LaxUsers.asked = [];
    for (const spelling of ['alice', 'ALICE', fullWidth('Alice')]) {
      expect(await tryLogin(host, spelling, PASSWORD)).toBe('ok');
    }
    expect(new Set(LaxUsers.asked)).toEqual(new Set(['alice']));
    const spellings = [...SPELLINGS, fullWidth('alice'), fullWidth('ALICE')];
    const { verified } = await guess(host, hasher, await hashOf(host, 'alice'), 12, spellings);
    expect(verified).toBe(10);
    await host.reset();
    for (const other of ['\u00e1lice', 'alice ']) {
      expect(await tryLogin(host, other, PASSWORD)).toBe('invalid_credentials');
    }
  });

  it('finds nobody where its database returns a user with another name', async () => {
    const mine = { hash: await hasher.hash('the password of mallory'), lax: 'bob' };
    await host.dataSource.getRepository(Member).insert({ ...mine, name: 'b\u00f3b' });
    expect(await tryLogin(host, 'bob', 'the password of mallory')).toBe('invalid_credentials');
    expect(await tryLogin(host, 'b\u00f3b', 'the password of mallory')).toBe('ok');
  });

  it.each(['Alice', fullWidth('alice'), '\u00e1lice', 'alice '])(
    'creates no user %j that it takes for alice, whose sessions go on',
    async (username) => {
      const { access_token: token } = await host.login();
      const create = host.auth.createUser({ username, password: PASSWORD });
      await expect(create).rejects.toMatchObject({ code: 'username_taken' });
      await host.get('/me', token).expect(200);
      expect(await host.dataSource.getRepository(Member).count()).toBe(1);
    },
  );
});

describe.each(DATABASES)('a name with invisible characters on %s', (name) => {
  it.each([
    ['a mapped entity', MAPPING],
    ['a user store', LaxUsers],
  ])('is refused before %s is asked to create a user', async (_, users) => {
    const database = await createDatabase(name);
    const host = await start(database, users, 'exact');
    for (const username of ['alice\u200b', '\u202ealice', 'ali\u0007ce']) {
      const create = host.auth.createUser({ username, password: PASSWORD }, { skipPolicy: true });
      await expect(create).rejects.toMatchObject({ code: 'invalid_field', fields: { username: [expect.any(String)] } });
    }
    expect(await host.dataSource.getRepository(Member).count()).toBe(1);
    await host.close();
    await database.drop();
  });
});
