import { AUTH_ENTITIES_WITHOUT_USERS } from 'nestjs-session-auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { CountingHasher } from '../support/counting-hasher';
import { createDatabase, type TestDatabase } from '../support/databases';
import { SECOND } from '../support/driven-clock';
import { TestApplication, PASSWORD } from '../support/test-application';
import { tryLogin } from '../support/spellings';

@Entity('members')
class Member {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar' })
  email!: string;

  @Column({ type: 'varchar', nullable: true })
  password!: string | null;

  @Column({ type: Boolean, default: true })
  isActive!: boolean;
}

const hasher = new CountingHasher();
const users = { entity: Member, username: 'email', passwordHash: 'password', active: 'isActive' };
const ARGON2 = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b1dWRWJTmaaJObG';

describe('stored hashes that the configured hasher does not accept', () => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    const entities = [Member, ...AUTH_ENTITIES_WITHOUT_USERS];
    app = await TestApplication.start({ database, entities, users: [], auth: { users, passwordHasher: hasher } });
    await app.dataSource.getRepository(Member).insert([
      { id: 1, email: 'alice', password: PASSWORD },
      { id: 2, email: 'bob', password: ARGON2 },
      { id: 3, email: 'carol', password: null },
      { id: 4, email: 'dave', password: PASSWORD, isActive: false },
    ]);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(async () => {
    app.clock.advance(61 * SECOND);
    await app.reset();
    hasher.verified.length = 0;
  });

  const warnings = (): string[] => app.logs.filter((line) => line.includes('password hash of user'));

  it('an unaccepted hash is logged with the id of its user and without the hash, at most once a minute', async () => {
    expect(await tryLogin(app, 'alice', PASSWORD)).toBe('invalid_credentials');
    expect(await tryLogin(app, 'bob', PASSWORD)).toBe('invalid_credentials');
    expect(warnings()).toEqual([expect.stringMatching(/user 1 has a format .* Argon2PasswordHasher/)]);
    app.clock.advance(61 * SECOND);
    expect(await tryLogin(app, 'bob', PASSWORD)).toBe('invalid_credentials');
    expect(warnings()).toEqual([expect.stringContaining('user 1 '), expect.stringContaining('user 2 ')]);
    expect(app.logs.join('\n')).not.toMatch(/correct horse|argon2id/);
    // Each login verifies one hash, like a login with an unknown name.
    expect(hasher.verified).toHaveLength(3);
  });

  it('an unaccepted hash is logged at a password change', async () => {
    const { accessToken } = await app.auth.openSession(1);
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    const { status } = await app.post('/auth/password/change', accessToken, change);
    expect([status, warnings()]).toEqual([400, [expect.stringContaining('user 1 ')]]);
  });

  it('an unaccepted hash is not logged for users who have no password, are disabled or do not exist', async () => {
    for (const name of ['carol', 'dave', 'erin'])
      expect(await tryLogin(app, name, PASSWORD)).toBe('invalid_credentials');
    expect(warnings()).toEqual([]);
    expect(hasher.verified).toHaveLength(3);
  });
});
