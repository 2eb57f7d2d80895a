import { PasswordHasher, type AuthService, type UserId } from 'nestjs-session-auth';
import { PASSWORD } from '../support/test-application';
import { describeApplication, describeOnEachDatabase } from '../support/environment';

/** Holds every verification until it is released. */
class HeldHasher extends PasswordHasher {
  readonly maxPasswordBytes = 72;
  running = 0;
  mostRunning = 0;
  total = 0;
  protected held: Promise<void> = Promise.resolve();
  release: () => void = () => undefined;

  hold(): void {
    this.held = new Promise((resolve) => (this.release = resolve));
    this.mostRunning = 0;
    this.total = 0;
  }

  hash(): Promise<string> {
    return Promise.resolve('hash');
  }

  async verify(password: string): Promise<boolean> {
    this.total++;
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    await this.held;
    this.running--;
    return password === PASSWORD;
  }

  accepts(): boolean {
    return true;
  }

  needsRehash(): boolean {
    return false;
  }
}

const hasher = new HeldHasher();

const HELD = { auth: { passwordHasher: hasher, hashing: { concurrent: 2, waiting: 22 } } };

describeOnEachDatabase('200 parallel logins', HELD, ({ app }) => {
  it('logins from one network hash two passwords at a time and queue ten, and refused logins are not counted', async () => {
    const { access_token: token } = await app.login();
    hasher.hold();
    const statuses: number[] = [];
    const logins = Array.from({ length: 200 }, (_, index) =>
      app.http
        .post('/auth/login')
        .send({ username: `name ${index}`, password: 'wrong' })
        .then(({ status, headers, body }) => {
          statuses.push(status);
          if (status === 503) expect([headers['retry-after'], body]).toEqual(['1', BUSY]);
        }),
    );
    while (statuses.length < 188) await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(statuses)).toEqual(new Set([503]));
    // Guarded routes are not delayed.
    for (let i = 0; i < 10; i++) await app.get('/me', token).expect(200);
    expect([hasher.running, hasher.total]).toEqual([2, 2]);
    hasher.release();
    await Promise.all(logins);
    expect(statuses.slice(188)).toEqual(Array<number>(12).fill(400));
    expect([hasher.mostRunning, hasher.total]).toEqual([2, 12]);
    expect(app.sent('login_failed')).toHaveLength(12);
  });
});

/** Takes a few milliseconds for each verification. */
class SlowHasher extends HeldHasher {
  override async verify(password: string): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return password === PASSWORD;
  }
}

const slow = { passwordHasher: new SlowHasher(), hashing: { concurrent: 2, waiting: 14 } };

describeOnEachDatabase('parallel logins with different names from one network', { auth: slow }, ({ app }) => {
  it('a flood of logins from one network does not prevent logins from other networks, and refused logins leave no rows', async () => {
    let isOver = false;
    let failures = 0;
    let refused = 0;
    const flood = Array.from({ length: 50 }, async (_, sender) => {
      for (let i = 0; !isOver; i++) {
        const credentials = { username: `name ${sender} ${i}`, password: 'wrong' };
        const error = await app.auth.login(credentials, { ipAddress: '198.51.100.1' }).catch((one: unknown) => one);
        if ((error as { code: string }).code === 'invalid_credentials') failures++;
        else refused++;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
    const outcomes: string[] = [];
    for (let i = 0; i < 20; i++) {
      const login = app.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: `192.0.2.${i}` });
      outcomes.push(await login.then(() => 'ok').catch(({ code }: { code: string }) => code));
    }
    isOver = true;
    await Promise.all(flood);
    expect(outcomes).toEqual(Array<string>(20).fill('ok'));
    expect(refused).toBeGreaterThan(0);
    // One row for the name and one row for its network, but no row for a refused attempt.
    expect(await app.dataSource.query('SELECT 1 FROM auth_login_failures')).toHaveLength(2 * failures);
  });
});

/** Holds every new hash until it is released, and verifies immediately. */
class HeldNewHasher extends HeldHasher {
  override async hash(): Promise<string> {
    await this.held;
    return 'hash';
  }

  override verify(password: string): Promise<boolean> {
    return Promise.resolve(password === PASSWORD);
  }
}

const newHasher = new HeldNewHasher();
const held = { passwordHasher: newHasher, hashing: { concurrent: 10, waiting: 2 } };

describeApplication('40 parallel new passwords', { auth: held }, ({ app }) => {
  const NEW = 'another horse battery staple';
  const client = { ipAddress: '198.51.100.1' };
  type Send = (auth: AuthService, index: number, userId: UserId, token: string) => Promise<unknown>;
  const floods: [string, Send, inNetwork?: string][] = [
    ['of registrations from one network', (auth, i) => auth.createUser(userNamed(`one ${i}`), {}, client), 'busy'],
    ['of registrations from no known network', (auth, i) => auth.createUser(userNamed(`two ${i}`))],
    ['that the application hashes by hashPassword()', (auth) => auth.hashPassword(NEW)],
    ['of password resets from one network', (auth, _, userId) => auth.resetPassword(userId, NEW, client), 'busy'],
    ['for one password reset token', (auth, _, __, token) => auth.redeemPasswordResetToken(token, NEW, client), 'busy'],
  ];

  it.each(floods)(
    'new passwords %s leave half of the hashing capacity to logins from other networks',
    async (_, send, inNetwork = 'ok') => {
      const { auth } = app;
      const id = await app.userId('bob');
      const { token } = await auth.createPasswordResetToken(id);
      newHasher.hold();
      let refused = 0;
      const flood = Array.from({ length: 40 }, (__, index) =>
        send(auth, index, id, token).catch(({ code }: { code: string }) => {
          if (code === 'busy') refused++;
        }),
      );
      // The capacity is 12, so at least 28 of the 40 requests are refused.
      while (refused < 28) await new Promise((resolve) => setImmediate(resolve));
      const outcomes: string[] = [];
      for (const ipAddress of ['192.0.2.1', client.ipAddress]) {
        const login = auth.login({ username: 'alice', password: PASSWORD }, { ipAddress });
        outcomes.push(await login.then(() => 'ok').catch(({ code }: { code: string }) => code));
      }
      newHasher.release();
      await Promise.all(flood);
      expect([...outcomes, refused]).toEqual(['ok', inNetwork, 34]);
    },
  );

  function userNamed(username: string): { username: string; password: string } {
    return { username, password: NEW };
  }
});

const BUSY = { detail: 'The server is busy. Try again in a moment.' };
