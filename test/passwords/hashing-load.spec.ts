import type { AuthService } from 'nestjs-session-auth';
import { CountingHasher } from '../support/counting-hasher';
import { describeApplication, describeOnEachDatabase } from '../support/environment';
import { pending } from '../support/tap';
import { okOrCode, PASSWORD } from '../support/test-application';

const BUSY = { detail: 'The server is busy. Try again in a moment.' };

const hasher = new CountingHasher();
const HELD = { auth: { passwordHasher: hasher, hashing: { concurrent: 2, waiting: 22 } } };

describeOnEachDatabase('200 parallel logins', HELD, ({ app }) => {
  it('logins from one network hash two passwords at a time and queue ten, and refused logins are not counted', async () => {
    const { access_token: token } = await app.login();
    const { promise, resolve } = pending();
    hasher.held = promise;
    hasher.verified.length = 0;
    const statuses: number[] = [];
    const logins = Array.from({ length: 200 }, async (_, index) => {
      const sent = { username: `name ${index}`, password: 'wrong' };
      const { status, headers, body } = await app.http.post('/auth/login').send(sent);
      statuses.push(status);
      if (status === 503) expect([headers['retry-after'], body]).toEqual(['1', BUSY]);
    });
    while (statuses.length < 188) await new Promise(setImmediate);
    expect(new Set(statuses)).toEqual(new Set([503]));
    // Guarded routes are not delayed.
    for (let i = 0; i < 10; i++) await app.get('/me', token).expect(200);
    expect(hasher.verified).toHaveLength(2);
    resolve();
    await Promise.all(logins);
    expect(statuses.slice(188)).toEqual(Array<number>(12).fill(400));
    expect(hasher.verified).toHaveLength(12);
    expect(app.sent('login_failed')).toHaveLength(12);
  });
});

/** Takes a few milliseconds for each verification. */
class SlowHasher extends CountingHasher {
  override async verify(password: string, hash: string): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return super.verify(password, hash);
  }
}

const SLOW = { auth: { passwordHasher: new SlowHasher(), hashing: { concurrent: 2, waiting: 14 } } };

describeOnEachDatabase('parallel logins with different names from one network', SLOW, ({ app }) => {
  it('a flood of logins from one network does not prevent logins from other networks, and refused logins leave no rows', async () => {
    let isOver = false;
    let failures = 0;
    let refused = 0;
    const flood = Array.from({ length: 50 }, async (_, sender) => {
      for (let i = 0; !isOver; i++) {
        const credentials = { username: `name ${sender} ${i}`, password: 'wrong' };
        const code = await okOrCode(app.auth.login(credentials, { ipAddress: '198.51.100.1' }));
        if (code === 'invalid_credentials') failures++;
        else refused++;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
    for (let i = 0; i < 20; i++) {
      const login = app.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: `192.0.2.${i}` });
      expect(await okOrCode(login)).toBe('ok');
    }
    isOver = true;
    await Promise.all(flood);
    expect(refused).toBeGreaterThan(0);
    // One row for the name and one row for its network, but no row for a refused attempt.
    expect(await app.dataSource.query('SELECT 1 FROM auth_login_failures')).toHaveLength(2 * failures);
  });
});

class HeldNewHashes extends CountingHasher {
  heldHashes: Promise<void> | null = null;

  override async hash(password: string): Promise<string> {
    await this.heldHashes;
    return super.hash(password);
  }
}

const newHasher = new HeldNewHashes();
const HELD_NEW = { auth: { passwordHasher: newHasher, hashing: { concurrent: 10, waiting: 2 } } };

describeApplication('40 parallel new passwords', HELD_NEW, ({ app }) => {
  const password = 'another horse battery staple';
  const client = { ipAddress: '198.51.100.1' };
  type Send = (auth: AuthService, username: string, userId: string, token: string) => Promise<unknown>;

  it.each<[string, Send, inNetwork: string]>([
    [
      'of registrations from one network',
      (auth, username) => auth.createUser({ username, password }, {}, client),
      'busy',
    ],
    ['of registrations from no known network', (auth, username) => auth.createUser({ username, password }), 'ok'],
    ['that the application hashes by hashPassword()', (auth) => auth.hashPassword(password), 'ok'],
    ['of password resets from one network', (auth, _, userId) => auth.resetPassword(userId, password, client), 'busy'],
    [
      'for one password reset token',
      (auth, _, __, token) => auth.redeemPasswordResetToken(token, password, client),
      'busy',
    ],
  ])(
    'new passwords %s leave half of the hashing capacity to logins from other networks',
    async (title, send, inNetwork) => {
      const bob = await app.userId('bob');
      const { token } = await app.auth.createPasswordResetToken(bob);
      const { promise, resolve } = pending();
      newHasher.heldHashes = promise;
      let refused = 0;
      const flood = Array.from({ length: 40 }, async (__, index) => {
        if ((await okOrCode(send(app.auth, `${title} ${index}`, bob, token))) === 'busy') refused++;
      });
      // The capacity is 12, so at least 28 of the 40 requests are refused.
      while (refused < 28) await new Promise(setImmediate);
      for (const [ipAddress, outcome] of [
        ['192.0.2.1', 'ok'],
        [client.ipAddress, inNetwork],
      ]) {
        const login = app.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: ipAddress! });
        expect(await okOrCode(login)).toBe(outcome);
      }
      resolve();
      await Promise.all(flood);
      expect(refused).toBe(34);
    },
  );
});
