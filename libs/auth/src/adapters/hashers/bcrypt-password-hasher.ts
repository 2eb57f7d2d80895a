import * as bcrypt from 'bcrypt';
import { PasswordHasher } from '../../domain/ports/platform';

/** The forms of one algorithm; `$2y$` is PHP's name for what others call `$2b$`. */
const STORED = /^\$2([aby])\$(0[4-9]|1[0-5])\$[./A-Za-z0-9]{53}$/;

/**
 * bcrypt. It reads 72 bytes of a password and no more, so a longer one is refused instead of being
 * cut. A cheaper hash takes as long to verify as one of the configured cost.
 */
export class BcryptPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 72;

  /** @param cost the base-2 logarithm of the rounds */
  constructor(private readonly cost: number) {
    super();
  }

  hash(password: string): Promise<string> {
    return bcrypt.hash(password, this.cost);
  }

  async verify(password: string, hash: string): Promise<boolean> {
    if (!this.accepts(hash) || Buffer.byteLength(password) > this.maxPasswordBytes) return false;
    const stored = hash.replace(/^\$2y/, '$2b');
    const matches = await bcrypt.compare(password, stored);
    await this.addMissingWork(password, stored);
    return matches;
  }

  /** A stored hash may not ask for more work than cost 15: whoever writes a row would decide how long a login takes. */
  accepts(hash: string): boolean {
    return STORED.test(hash);
  }

  needsRehash(hash: string): boolean {
    const cost = STORED.exec(hash)?.[2];
    return cost !== undefined && Number(cost) < this.cost;
  }

  /**
   * Makes up for the rounds of a cheaper hash. Each cost doubles them: one hash of cost 10, and one
   * each of costs 10 and 11, have the rounds of cost 12.
   */
  private async addMissingWork(password: string, stored: string): Promise<void> {
    for (let cost = Number(STORED.exec(stored)?.[2]); cost < this.cost; cost++) {
      await bcrypt.compare(
        password,
        stored.replace(/\$\d\d\$/, () => `$${String(cost).padStart(2, '0')}$`),
      );
    }
  }
}
