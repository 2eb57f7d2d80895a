import * as bcrypt from 'bcrypt';
import { AuthUser, PrehashedBcryptPasswordHasher } from 'nestjs-session-auth';
import { PASSWORD, type Host } from '../support/host';
import { INVALID_CREDENTIALS, stories, type Stage } from './stories';

async function storeHash(host: Host, passwordHash: string): Promise<void> {
  await host.dataSource.getRepository(AuthUser).update({ username: 'alice' }, { passwordHash });
}

async function storedHash(host: Host): Promise<string> {
  return (await host.dataSource.query("SELECT password_hash FROM auth_users WHERE username = 'alice'"))[0]
    .password_hash;
}

const cheap = (): Promise<string> => bcrypt.hash(PASSWORD, 4);

stories('a hash of a lower cost', { auth: { bcryptCost: 5 } }, (at: Stage) => {
  it.each(['$2a$', '$2b$', '$2y$'])(
    'written %s logs in, and is made anew without ending a session',
    async (version) => {
      const { host } = at;
      const old = (await cheap()).replace('$2b$', version);
      await storeHash(host, old);
      await host.http
        .post('/auth/login')
        .send({ username: 'alice', password: 'wrong' })
        .expect(400, INVALID_CREDENTIALS);
      expect(await storedHash(host)).toBe(old);
      const first = await host.login();
      const raised = await storedHash(host);
      expect(raised).toMatch(/^\$2b\$05\$/);
      await host.login();
      expect(await storedHash(host)).toBe(raised);
      await host.get('/me', first.access_token).expect(200);
      expect(host.sent('password_changed')).toEqual([]);
    },
  );
});

const prehashed = { auth: { passwordHasher: new PrehashedBcryptPasswordHasher({ cost: 4 }) } };

stories('a hash of the hasher before', prehashed, (at: Stage) => {
  it('logs in, is made anew by the one that is in force, and the next password may be long', async () => {
    const { host } = at;
    await storeHash(host, await cheap());
    await host.login();
    expect(await storedHash(host)).toMatch(/^\$hmac-sha384\$2b\$04\$/);
    const { access_token: token } = await host.login();
    const long = `${'a long password '.repeat(20)}with an end`;
    const change = { current_password: PASSWORD, new_password: long };
    await host.post('/auth/password/change', token, change).expect(200);
    await host.login('alice', long);
    const cut = { username: 'alice', password: long.slice(0, 72) };
    await host.http.post('/auth/login').send(cut).expect(400, INVALID_CREDENTIALS);
  });
});
