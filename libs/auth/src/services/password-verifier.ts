import type { PasswordHasher } from '../domain/ports/password-hasher';
import type { HashingQueue } from './hashing-queue';

/** Verifies passwords with the same work for every outcome: one verification by the configured hasher. */
export class PasswordVerifier {
  private dummy: Promise<string> | undefined;

  constructor(
    private readonly hasher: PasswordHasher,
    private readonly queue: HashingQueue,
  ) {}

  /** Makes the hash that is verified where there is none to verify; called at the start. */
  async prepare(): Promise<void> {
    await this.dummyHash();
  }

  /** Whether the password is the one of this hash; null stands for a user who is not there or has no password. */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const usable =
      hash !== null && this.hasher.accepts(hash) && Buffer.byteLength(password) <= this.hasher.maxPasswordBytes;
    const against = usable ? hash : await this.dummyHash();
    // Cut for the dummy only, which nothing matches: a hasher may refuse a longer one without doing the work.
    const given = usable ? password : cut(password, this.hasher.maxPasswordBytes);
    const matches = await this.queue.run(() => this.hasher.verify(given, against));
    return usable && matches;
  }

  hash(password: string): Promise<string> {
    return this.queue.run(() => this.hasher.hash(password));
  }

  private dummyHash(): Promise<string> {
    this.dummy ??= this.hasher.hash('a password that nobody has');
    return this.dummy;
  }
}

function cut(password: string, bytes: number): string {
  return password.length * 3 <= bytes ? password : password.slice(0, Math.floor(bytes / 3)).toWellFormed();
}
