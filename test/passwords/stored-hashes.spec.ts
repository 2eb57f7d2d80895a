import * as bcrypt from 'bcrypt';
import { AuthUser, PasswordHasher, PrehashedBcryptPasswordHasher, type PasswordKey } from 'nestjs-session-auth';
import { CountingHasher } from '../support/counting-hasher';
import { SECOND } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT, TEXT, TRUE_BY_DEFAULT } from '../support/mapped-users';
import { tryLogin } from '../support/spellings';
import { startForTest } from '../support/start-for-test';
import { PASSWORD, type TestApplication } from '../support/test-application';

async function storeHash(app: TestApplication, passwordHash: string): Promise<void> {
  await app.dataSource.getRepository(AuthUser).update({ username: 'alice' }, { passwordHash });
}

async function storedHash(app: TestApplication): Promise<string> {
  return (await app.dataSource.query("SELECT password_hash FROM auth_users WHERE username = 'alice'"))[0].password_hash;
}

describeOnEachDatabase('password hashes of a lower cost', { auth: { bcryptCost: 5 } }, ({ app }) => {
  it('a login replaces a hash of a lower cost, and ends no session', async () => {
    const old = await bcrypt.hash(PASSWORD, 4);
    await storeHash(app, old);
    await app.failLogin();
    expect(await storedHash(app)).toBe(old);
    const first = await app.login();
    const raised = await storedHash(app);
    expect(raised).toMatch(/^\$2b\$05\$/);
    await app.login();
    expect(await storedHash(app)).toBe(raised);
    await app.expectLive(first);
    expect(app.sent('password_changed')).toEqual([]);
  });

  it('a login succeeds although the hasher throws when it is asked whether to replace the hash', async () => {
    const asked = jest.spyOn(app.nest.get(PasswordHasher), 'needsRehash').mockImplementation(() => {
      throw new Error('an unknown format');
    });
    await app.login();
    asked.mockRestore();
    expect(app.sent('login_failed')).toEqual([]);
    expect(app.logs.join('\n')).toContain('Upgrading the password hash of user');
  });
});

const [OLD, NEW] = [{ key: 'a'.repeat(32) }, { key: 'b'.repeat(32), keyId: '2' }];
const withKeys = (key: PasswordKey, ...otherKeys: PasswordKey[]) => ({
  auth: { passwordHasher: new PrehashedBcryptPasswordHasher({ cost: 4, ...key, otherKeys }) },
});

describeOnEachDatabase('password hashes with a key', withKeys(OLD, NEW), ({ app, start }) => {
  it('a key is replaced while both versions run, without ending a session, and the old key is then no longer needed', async () => {
    await storeHash(app, await withKeys(OLD).auth.passwordHasher.hash(PASSWORD));
    const first = await app.login();
    const next = await start(withKeys(NEW, OLD));
    await next.failLogin();
    expect(await storedHash(app)).toMatch(/^\$hmac-sha384\$2b\$04\$/);
    const second = await next.login();
    expect(await storedHash(app)).toMatch(/^\$hmac-sha384\.2\$2b\$04\$/);
    await app.failLogin();
    const last = await start(withKeys(NEW));
    await last.login();
    await last.expectLive(first, second);
    expect(await tryLogin(last, 'bob', PASSWORD)).toBe('invalid_credentials');
  });

  it('a password can have more than 72 bytes, and all of them count', async () => {
    const long = `${'a long password '.repeat(20)}with an end`;
    await app.changePassword((await app.login()).access_token, long).expect(200);
    await app.login('alice', long);
    expect(await tryLogin(app, 'alice', long.slice(0, 72))).toBe('invalid_credentials');
  });
});

const Member = entityOf('Member', {
  id: GENERATED_ID,
  email: TEXT,
  password: OPTIONAL_TEXT,
  isActive: TRUE_BY_DEFAULT,
});
const ARGON2 = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b1dWRWJTmaaJObG';

describe('stored hashes that the configured hasher does not accept', () => {
  const users = { entity: Member, username: 'email', passwordHash: 'password', active: 'isActive' };

  it('an unaccepted hash is logged with the id of its user and without the hash, at most once a minute, also at a password change', async () => {
    const hasher = new CountingHasher();
    const app = await startForTest('sqlite', mappedUsers(users, { passwordHasher: hasher }));
    await app.dataSource.getRepository(Member).insert([
      { email: 'alice', password: PASSWORD },
      { email: 'bob', password: ARGON2 },
      { email: 'carol', password: null },
      { email: 'disabled', password: PASSWORD, isActive: false },
    ]);
    const warnings = (): string[] => app.logs.filter((line) => line.includes('password hash of user'));
    const refuse = async (name: string): Promise<void> =>
      expect(await tryLogin(app, name, PASSWORD)).toBe('invalid_credentials');
    // Users who have no password, are disabled or do not exist.
    for (const name of ['carol', 'disabled', 'nobody']) await refuse(name);
    expect(warnings()).toEqual([]);
    await refuse('alice');
    await refuse('bob');
    expect(warnings()).toEqual([expect.stringMatching(/user 1 has a format .* Argon2PasswordHasher/)]);
    app.clock.advance(61 * SECOND);
    await refuse('bob');
    expect(warnings()).toEqual([expect.stringContaining('user 1 '), expect.stringContaining('user 2 ')]);
    // Each login verifies one hash, like a login with an unknown name.
    expect(hasher.verified).toHaveLength(6);
    app.clock.advance(61 * SECOND);
    const { accessToken } = await app.auth.openSession(1);
    await app.changePassword(accessToken, 'a password that is new').expect(400);
    expect(warnings().slice(2)).toEqual([expect.stringContaining('user 1 ')]);
    expect(app.logs.join('\n')).not.toMatch(/correct horse|argon2id/);
  });
});
