import { AUTH_ENTITIES_WITHOUT_USERS } from 'nestjs-session-auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { CountingHasher } from '../support/counting-hasher';
import { createDatabase, type TestDatabase } from '../support/databases';
import { SECOND } from '../support/driven-clock';
import { Host, PASSWORD } from '../support/host';
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

describe('a stored hash that the configured hasher does not accept', () => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    const entities = [Member, ...AUTH_ENTITIES_WITHOUT_USERS];
    host = await Host.start({ database, entities, users: [], auth: { users, passwordHasher: hasher } });
    await host.dataSource.getRepository(Member).insert([
      { id: 1, email: 'alice', password: PASSWORD },
      { id: 2, email: 'bob', password: ARGON2 },
      { id: 3, email: 'carol', password: null },
      { id: 4, email: 'dave', password: PASSWORD, isActive: false },
    ]);
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(async () => {
    host.clock.advance(61 * SECOND);
    await host.reset();
    hasher.verified.length = 0;
  });

  const warnings = (): string[] => host.logs.filter((line) => line.includes('password hash of user'));

  it('is logged with the id of its user and without the hash, at most once a minute', async () => {
    expect(await tryLogin(host, 'alice', PASSWORD)).toBe('invalid_credentials');
    expect(await tryLogin(host, 'bob', PASSWORD)).toBe('invalid_credentials');
    expect(warnings()).toEqual([expect.stringMatching(/user 1 has a format .* Argon2PasswordHasher/)]);
    host.clock.advance(61 * SECOND);
    expect(await tryLogin(host, 'bob', PASSWORD)).toBe('invalid_credentials');
    expect(warnings()).toEqual([expect.stringContaining('user 1 '), expect.stringContaining('user 2 ')]);
    expect(host.logs.join('\n')).not.toMatch(/correct horse|argon2id/);
    // One hash for each login, as for an unknown name.
    expect(hasher.verified).toHaveLength(3);
  });

  it('is logged at a password change too', async () => {
    const { accessToken } = await host.auth.openSession(1);
    const change = { current_password: PASSWORD, new_password: 'a password that is new' };
    const { status } = await host.post('/auth/password/change', accessToken, change);
    expect([status, warnings()]).toEqual([400, [expect.stringContaining('user 1 ')]]);
  });

  it('is not reported of users who have no password, may not log in or do not exist', async () => {
    for (const name of ['carol', 'dave', 'erin'])
      expect(await tryLogin(host, name, PASSWORD)).toBe('invalid_credentials');
    expect(warnings()).toEqual([]);
    expect(hasher.verified).toHaveLength(3);
  });
});
