import { createHash, timingSafeEqual } from 'node:crypto';
import { PasswordHasher } from '../domain/ports/password-hasher';

const PREFIX = 'cheap$';

/**
 * A hasher for tests, where bcrypt would be most of their time: `passwordHasher: CheapPasswordHasher`. It protects nothing, and
 * refuses to be made where `NODE_ENV` is not `test`.
 */
export class CheapPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 4096;

  constructor() {
    super();
    if (process.env['NODE_ENV'] !== 'test') {
      throw new Error(
        "CheapPasswordHasher is for tests: NODE_ENV is not 'test'. Leave `passwordHasher` out for bcrypt.",
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
