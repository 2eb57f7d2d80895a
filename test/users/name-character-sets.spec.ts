import { AUTH_ENTITIES_WITHOUT_USERS, type NameMatching } from 'nestjs-session-auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { CountingHasher } from '../support/counting-hasher';
import { createDatabase, describeOn, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';
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

describeOn('mysql')('names that the character set of the users cannot represent', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  async function start(entity: new () => object, nameMatching: NameMatching): Promise<void> {
    const folded = nameMatching === 'insensitive' ? { foldedUsername: 'folded' } : {};
    const users = { entity, username: 'name', passwordHash: 'hash', ...folded };
    const entities = [Utf8mb3Member, Latin1Member, ...AUTH_ENTITIES_WITHOUT_USERS];
    app = await TestApplication.start({
      database,
      entities,
      users: ['alice', 'jos\u00e9'],
      auth: { users, nameMatching, passwordHasher: hasher },
    });
  }

  /** Returns the response to a login with the given name, and the statements and hashes that the login caused. */
  async function attempt(username: string): Promise<unknown> {
    const statements: string[] = [];
    const tap = new Tap(app);
    tap.hook = { before: ({ sql }) => void statements.push(sql) };
    const hashes = hasher.verified.length;
    const { status, body } = await app.http.post('/auth/login').send({ username, password: 'not the password' });
    tap.hook = {};
    return { status, body, statements, verified: hasher.verified.slice(hashes) };
  }

  it.each([
    ['utf8mb3', 'exact', Utf8mb3Member, [EMOJI, `alice${EMOJI}`]],
    ['utf8mb3', 'insensitive', Utf8mb3Member, [EMOJI]],
    ['latin1', 'exact', Latin1Member, [EMOJI, CYRILLIC, `alice${CYRILLIC}`]],
    ['latin1', 'insensitive', Latin1Member, [EMOJI, CYRILLIC]],
  ] as const)(
    'a login with an unrepresentable name gets the response, SQL and hashing of an unknown name (%s, nameMatching: %s)',
    async (...row) => {
      const [, nameMatching, entity, names] = row;
      await start(entity, nameMatching);
      const unknown = await attempt('nobody');
      expect(unknown).toMatchObject({ status: 400, body: { non_field_errors: ['Invalid credentials.'] } });
      for (const name of names) expect(await attempt(name)).toEqual(unknown);
      expect(app.logs.filter((line) => line.includes('database failed'))).toEqual([]);
      await app.login('jos\u00e9');
      await app.login('alice');
    },
  );

  it('a user with an unrepresentable name is not created, and the log contains the reason', async () => {
    await start(Latin1Member, 'exact');
    const members = app.dataSource.getRepository(Latin1Member);
    const before = await members.count();
    const create = app.auth.createUser({ username: CYRILLIC, password: PASSWORD });
    await expect(create).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(app.logs.filter((line) => line.includes('database failed'))).toEqual([
      expect.stringMatching(/(?:1267|3988).*Convert the column to utf8mb4/),
    ]);
    expect(await members.count()).toBe(before);
  });

  it('resetFailedLogins() with an unrepresentable name does not fail a transaction of the application', async () => {
    await start(Latin1Member, 'exact');
    await app.dataSource.transaction(async (manager) => {
      await app.auth.inTransaction(manager).resetFailedLogins(CYRILLIC);
      await manager.update(Latin1Member, { name: 'alice' }, { name: 'bob' });
    });
    await app.login('bob');
  });
});
