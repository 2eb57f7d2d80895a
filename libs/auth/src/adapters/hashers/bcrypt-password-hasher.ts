import * as bcrypt from 'bcrypt';
import { PasswordHasher } from '../password-hasher';

/** Matches bcrypt hashes with a cost from 4 to 15. `$2y$` is PHP's name for `$2b$`. */
const STORED = /^\$2([aby])\$(0[4-9]|1[0-5])\$[./A-Za-z0-9]{53}$/;

/** Hashes passwords with bcrypt, which reads at most 72 bytes. Longer passwords are refused, not truncated. */
export class BcryptPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 72;

  /** @param cost the base-2 logarithm of the number of rounds, 4 to 15. @throws Error if `cost` is out of range */
  constructor(private readonly cost: number) {
    super();
    if (!Number.isSafeInteger(cost) || cost < 4 || cost > 15) {
      throw new Error(`The cost of bcrypt is ${cost}. Set a whole number from 4 to 15.`);
    }
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

  /** Accepts a cost of at most 15, so that a manipulated row cannot make a login take arbitrarily long. */
  accepts(hash: string): boolean {
    return STORED.test(hash);
  }

  needsRehash(hash: string): boolean {
    const cost = STORED.exec(hash)?.[2];
    return cost !== undefined && Number(cost) < this.cost;
  }

  /** Does the rounds that a hash of a lower cost lacks. Each increment of the cost doubles the rounds. */
  private async addMissingWork(password: string, stored: string): Promise<void> {
    for (let cost = Number(STORED.exec(stored)?.[2]); cost < this.cost; cost++) {
      const hash = stored.replace(/\$\d\d\$/, () => `$${String(cost).padStart(2, '0')}$`);
      await bcrypt.compare(password, hash);
    }
  }
}
