import { createHash, timingSafeEqual } from 'node:crypto';
import { PasswordHasher } from '../domain/ports/platform';

const PREFIX = 'cheap$';

/**
 * A fast and insecure hasher for tests: `passwordHasher: CheapPasswordHasher`.
 * @throws Error unless `NODE_ENV` is `test`
 */
export class CheapPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 4096;

  constructor() {
    super();
    if (process.env['NODE_ENV'] !== 'test') {
      throw new Error(
        "CheapPasswordHasher is for tests only, and NODE_ENV is not 'test'. Leave out `passwordHasher` to use bcrypt.",
      );
    }
  }

  hash(password: string): Promise<string> {
    return Promise.resolve(PREFIX + createHash('sha256').update(password).digest('hex'));
  }

  async verify(password: string, hash: string): Promise<boolean> {
    return this.accepts(hash) && timingSafeEqual(Buffer.from(await this.hash(password)), Buffer.from(hash));
  }

  accepts(hash: string): boolean {
    return /^cheap\$[0-9a-f]{64}$/.test(hash);
  }

  needsRehash(): boolean {
    return false;
  }
}
