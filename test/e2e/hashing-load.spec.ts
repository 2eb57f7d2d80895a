import { PasswordHasher } from 'nestjs-session-auth';
import { PASSWORD } from '../support/host';
import { stories, type Stage } from './stories';

/** Verifies nothing until it is let. */
class HeldHasher extends PasswordHasher {
  readonly maxPasswordBytes = 72;
  running = 0;
  mostRunning = 0;
  total = 0;
  private held: Promise<void> = Promise.resolve();
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
  { auth: { passwordHasher: hasher, hashing: { concurrent: 2, waiting: 10 } } },
  (at: Stage) => {
    it('hash two at a time and keep ten waiting; the others are told so at once, and guarded routes do not feel it', async () => {
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

const BUSY = { detail: 'Too many logins are being verified.' };
