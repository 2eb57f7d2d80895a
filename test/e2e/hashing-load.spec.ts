import { AuthUser, PasswordHasher, type AuthService, type UserId } from 'nestjs-session-auth';
import { PASSWORD } from '../support/host';
import { stories, type Stage } from './stories';

/** Verifies nothing until it is let. */
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

stories(
  'two hundred logins at once',
  { auth: { passwordHasher: hasher, hashing: { concurrent: 2, waiting: 22 } } },
  (at: Stage) => {
    it('from one network hash two at a time and keep ten waiting, half of the capacity; the others are told so at once, and guarded routes do not feel it', async () => {
      const { host } = at;
      const { access_token: token } = await host.login();
      hasher.hold();
      const statuses: number[] = [];
      const logins = Array.from({ length: 200 }, (_, index) =>
        host.http
          .post('/auth/login')
          .send({ username: `name ${index}`, password: 'wrong' })
          .then(({ status, headers, body }) => {
            statuses.push(status);
            if (status === 503) expect([headers['retry-after'], body]).toEqual(['1', BUSY]);
          }),
      );
      while (statuses.length < 188) await new Promise((resolve) => setImmediate(resolve));
      expect(new Set(statuses)).toEqual(new Set([503]));
      for (let i = 0; i < 10; i++) await host.get('/me', token).expect(200);
      expect([hasher.running, hasher.total]).toEqual([2, 2]);
      hasher.release();
      await Promise.all(logins);
      expect(statuses.slice(188)).toEqual(Array<number>(12).fill(400));
      expect([hasher.mostRunning, hasher.total]).toEqual([2, 12]);
    });

    it('that were turned away are not counted as failures', async () => {
      const { host } = at;
      hasher.hold();
      const attempts = Array.from({ length: 30 }, (_, index) =>
        host.http
          .post('/auth/login')
          .send({ username: `other ${index}`, password: 'wrong' })
          .then(({ status }) => status),
      );
      while (hasher.running < 2) await new Promise((resolve) => setImmediate(resolve));
      hasher.release();
      const refused = (await Promise.all(attempts)).filter((status) => status === 400).length;
      expect(host.sent('login_failed')).toHaveLength(refused);
    });
  },
);

/** Takes a few milliseconds for each hash. */
class SlowHasher extends HeldHasher {
  override async verify(password: string): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return password === PASSWORD;
  }
}

const slow = { passwordHasher: new SlowHasher(), hashing: { concurrent: 2, waiting: 14 } };

stories('a flood of logins with random names from one network', { auth: slow }, (at: Stage) => {
  it('does not prevent logins from other networks, and leaves no rows where it is refused', async () => {
    const { host } = at;
    let isOver = false;
    let failures = 0;
    let refused = 0;
    const flood = Array.from({ length: 50 }, async (_, sender) => {
      for (let i = 0; !isOver; i++) {
        const credentials = { username: `name ${sender} ${i}`, password: 'wrong' };
        const error = await host.auth.login(credentials, { ipAddress: '198.51.100.1' }).catch((one: unknown) => one);
        if ((error as { code: string }).code === 'invalid_credentials') failures++;
        else refused++;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
    const outcomes: string[] = [];
    for (let i = 0; i < 20; i++) {
      const login = host.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress: `192.0.2.${i}` });
      outcomes.push(await login.then(() => 'ok').catch(({ code }: { code: string }) => code));
    }
    isOver = true;
    await Promise.all(flood);
    expect(outcomes).toEqual(Array<string>(20).fill('ok'));
    expect(refused).toBeGreaterThan(0);
    // A row for the name and one for its network, and none of a refused attempt.
    expect(await host.dataSource.query('SELECT 1 FROM auth_login_failures')).toHaveLength(2 * failures);
  });
});

/** Hashes nothing until it is let, and verifies immediately. */
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

stories('forty new passwords at once', { auth: held }, (at: Stage) => {
  const NEW = 'another horse battery staple';
  const client = { ipAddress: '198.51.100.1' };
  type Send = (auth: AuthService, index: number, userId: UserId, token: string) => Promise<unknown>;
  const floods: [string, Send, inNetwork?: string][] = [
    ['of registrations from one network', (auth, i) => auth.createUser(userNamed(`one ${i}`), {}, client), 'busy'],
    ['of registrations from no known network', (auth, i) => auth.createUser(userNamed(`two ${i}`))],
    ['hashed for the application', (auth) => auth.hashPassword(NEW)],
    ['of resets from one network', (auth, _, userId) => auth.resetPassword(userId, NEW, client), 'busy'],
    ['of one reset token', (auth, _, __, token) => auth.redeemPasswordResetToken(token, NEW, client), 'busy'],
  ];

  it.each(floods)('%s leave half of the capacity to logins of other networks', async (_, send, inNetwork = 'ok') => {
    const { auth, dataSource } = at.host;
    const { id } = await dataSource.getRepository(AuthUser).findOneByOrFail({ username: 'bob' });
    const { token } = await auth.createPasswordResetToken(id);
    newHasher.hold();
    let refused = 0;
    const flood = Array.from({ length: 40 }, (__, index) =>
      send(auth, index, id, token).catch(({ code }: { code: string }) => {
        if (code === 'busy') refused++;
      }),
    );
    // All forty have come: a full queue refuses at least as many.
    while (refused < 28) await new Promise((resolve) => setImmediate(resolve));
    const outcomes: string[] = [];
    for (const ipAddress of ['192.0.2.1', client.ipAddress]) {
      const login = auth.login({ username: 'alice', password: PASSWORD }, { ipAddress });
      outcomes.push(await login.then(() => 'ok').catch(({ code }: { code: string }) => code));
    }
    newHasher.release();
    await Promise.all(flood);
    expect([...outcomes, refused]).toEqual(['ok', inNetwork, 34]);
  });

  function userNamed(username: string): { username: string; password: string } {
    return { username, password: NEW };
  }
});

const BUSY = { detail: 'Too many passwords are being verified.' };
