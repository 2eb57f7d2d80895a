import * as bcrypt from 'bcrypt';
import { AuthUser, PasswordHasher, PrehashedBcryptPasswordHasher } from 'nestjs-session-auth';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { INVALID_CREDENTIALS, describeOnEachDatabase, type TestEnvironment } from '../support/environment';

async function storeHash(app: TestApplication, passwordHash: string): Promise<void> {
  await app.dataSource.getRepository(AuthUser).update({ username: 'alice' }, { passwordHash });
}

async function storedHash(app: TestApplication): Promise<string> {
  return (await app.dataSource.query("SELECT password_hash FROM auth_users WHERE username = 'alice'"))[0].password_hash;
}

const cheap = (): Promise<string> => bcrypt.hash(PASSWORD, 4);

describeOnEachDatabase('password hashes of a lower cost', { auth: { bcryptCost: 5 } }, (env: TestEnvironment) => {
  it.each(['$2a$', '$2b$', '$2y$'])(
    'a login replaces a %s hash of a lower cost, and ends no session',
    async (version) => {
      const { app } = env;
      const old = (await cheap()).replace('$2b$', version);
      await storeHash(app, old);
      await app.http
        .post('/auth/login')
        .send({ username: 'alice', password: 'wrong' })
        .expect(400, INVALID_CREDENTIALS);
      expect(await storedHash(app)).toBe(old);
      const first = await app.login();
      const raised = await storedHash(app);
      expect(raised).toMatch(/^\$2b\$05\$/);
      await app.login();
      expect(await storedHash(app)).toBe(raised);
      await app.get('/me', first.access_token).expect(200);
      expect(app.sent('password_changed')).toEqual([]);
    },
  );

  it('a login succeeds although the hasher throws when it is asked whether to replace the hash', async () => {
    const { app } = env;
    const asked = jest.spyOn(app.nest.get(PasswordHasher), 'needsRehash').mockImplementation(() => {
      throw new Error('an unknown format');
    });
    await app.login();
    asked.mockRestore();
    expect(app.sent('login_failed')).toEqual([]);
    expect(app.logs.join('\n')).toContain('Upgrading the password hash of user');
  });
});

const prehashed = { auth: { passwordHasher: new PrehashedBcryptPasswordHasher({ cost: 4 }) } };

describeOnEachDatabase('password hashes of a previous hasher', prehashed, (env: TestEnvironment) => {
  it('a login replaces a hash of the previous hasher, and the user can then choose a long password', async () => {
    const { app } = env;
    await storeHash(app, await cheap());
    await app.login();
    expect(await storedHash(app)).toMatch(/^\$hmac-sha384\$2b\$04\$/);
    const { access_token: token } = await app.login();
    const long = `${'a long password '.repeat(20)}with an end`;
    const change = { current_password: PASSWORD, new_password: long };
    await app.post('/auth/password/change', token, change).expect(200);
    await app.login('alice', long);
    const cut = { username: 'alice', password: long.slice(0, 72) };
    await app.http.post('/auth/login').send(cut).expect(400, INVALID_CREDENTIALS);
  });
});
