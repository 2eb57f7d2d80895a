import { AUTH_ENTITIES_WITHOUT_USERS, type NameMatching } from 'nestjs-session-auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { CountingHasher } from '../support/counting-hasher';
import { createDatabase, describeOn, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';
import { Tap } from '../support/tap';

@Entity('utf8mb3_members')
class Utf8mb3Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', charset: 'utf8mb3', unique: true })
  name!: string;

  @Column({ type: 'varchar', charset: 'utf8mb3', unique: true, nullable: true })
  folded!: string | null;

  @Column({ type: 'varchar', nullable: true })
  hash!: string | null;
}

@Entity('latin1_members')
class Latin1Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', charset: 'latin1', unique: true })
  name!: string;

  @Column({ type: 'varchar', charset: 'latin1', unique: true, nullable: true })
  folded!: string | null;

  @Column({ type: 'varchar', nullable: true })
  hash!: string | null;
}

const EMOJI = '\u{1f600}';
const CYRILLIC = '\u0430\u043b\u0438\u0441\u0430';
const hasher = new CountingHasher();

describeOn('mariadb')('a name that the character set of the users cannot represent', () => {
  let database: TestDatabase;
  let host: Host;

  beforeEach(async () => {
    database = await createDatabase('mariadb');
  });
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  async function start(entity: new () => object, nameMatching: NameMatching): Promise<void> {
    const folded = nameMatching === 'insensitive' ? { foldedUsername: 'folded' } : {};
    const users = { entity, username: 'name', passwordHash: 'hash', ...folded };
    const entities = [Utf8mb3Member, Latin1Member, ...AUTH_ENTITIES_WITHOUT_USERS];
    host = await Host.start({
      database,
      entities,
      users: ['alice', 'jos\u00e9'],
      auth: { users, nameMatching, passwordHasher: hasher },
    });
  }

  /** The response to a login with this name, and the work that it took. */
  async function attempt(username: string): Promise<unknown> {
    const statements: string[] = [];
    const tap = new Tap(host);
    tap.hook = { before: ({ sql }) => void statements.push(sql) };
    const hashes = hasher.verified.length;
    const { status, body } = await host.http.post('/auth/login').send({ username, password: 'not the password' });
    tap.hook = {};
    return { status, body, statements, verified: hasher.verified.slice(hashes) };
  }

  it.each([
    ['utf8mb3', 'exact', Utf8mb3Member, [EMOJI, `alice${EMOJI}`]],
    ['utf8mb3', 'insensitive', Utf8mb3Member, [EMOJI]],
    ['latin1', 'exact', Latin1Member, [EMOJI, CYRILLIC, `alice${CYRILLIC}`]],
    ['latin1', 'insensitive', Latin1Member, [EMOJI, CYRILLIC]],
  ] as const)('is the name of nobody, with the same response and work, in %s with names %s', async (...row) => {
    const [, nameMatching, entity, names] = row;
    await start(entity, nameMatching);
    const unknown = await attempt('nobody');
    expect(unknown).toMatchObject({ status: 400, body: { non_field_errors: ['Invalid credentials.'] } });
    for (const name of names) expect(await attempt(name)).toEqual(unknown);
    expect(host.logs.filter((line) => line.includes('database failed'))).toEqual([]);
    await host.login('jos\u00e9');
    await host.login('alice');
  });

  it('is given to no new user, and the log says why', async () => {
    await start(Latin1Member, 'exact');
    const members = host.dataSource.getRepository(Latin1Member);
    const before = await members.count();
    const create = host.auth.createUser({ username: CYRILLIC, password: PASSWORD });
    await expect(create).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(host.logs.filter((line) => line.includes('database failed'))).toEqual([
      expect.stringMatching(/1267.*convert the column to utf8mb4/),
    ]);
    expect(await members.count()).toBe(before);
  });

  it('is unknown within a transaction of the application, which goes on', async () => {
    await start(Latin1Member, 'exact');
    await host.dataSource.transaction(async (manager) => {
      await host.auth.inTransaction(manager).resetFailedLogins(CYRILLIC);
      await manager.update(Latin1Member, { name: 'alice' }, { name: 'bob' });
    });
    await host.login('bob');
  });
});
