import { AuthError } from '../domain/errors';

/**
 * Bounds the password hashes that run and wait. They run on the threads that files and name look-ups need as well, so
 * without a bound a wave of logins stops everything else. (ASVS 15.1.3)
 */
export class HashingQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly bounds: { readonly concurrent: number; readonly waiting: number }) {}

  /** How many hashes run and wait now. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.running, waiting: this.waiting.length };
  }

  /** Runs the work when there is room. @throws AuthError `busy` at once where too many wait already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.bounds.concurrent) {
      if (this.waiting.length >= this.bounds.waiting) {
        throw new AuthError('busy', 'Too many logins are being verified.');
      }
      await new Promise<void>((go) => this.waiting.push(go));
    } else {
      this.running++;
    }
    try {
      return await work();
    } finally {
      // The place is handed on as it is, so that nobody who comes just now gets ahead of those who wait.
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
