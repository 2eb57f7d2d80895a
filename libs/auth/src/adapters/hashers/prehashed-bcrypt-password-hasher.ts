import { createHmac } from 'node:crypto';
import { PasswordHasher } from '../../domain/ports/platform';
import { BcryptPasswordHasher } from './bcrypt-password-hasher';

/** Distinguishes these hashes from plain bcrypt ones. */
const PREFIX = '$hmac-sha384';

/**
 * bcrypt of a digest of the password, of which up to 4,096 bytes count; bcrypt alone reads 72. Plain
 * bcrypt hashes remain valid, and are replaced at the next login.
 *
 * The digest is keyed (HMAC-SHA-384). With a secret `key` that is kept outside the database, a stolen
 * table of users cannot be guessed at. Without that key no password matches any more.
 */
export class PrehashedBcryptPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 4096;
  private readonly bcrypt: BcryptPasswordHasher;
  private readonly key: string;

  /** @param given `cost`: the base-2 logarithm of the rounds, 12 by default; `key`: a secret of at least 32 characters */
  constructor(given: { readonly cost?: number; readonly key?: string } = {}) {
    super();
    const { cost = 12, key } = given;
    // A variable of the environment that was never set must not mean a hash without a key.
    if ('key' in given && !(typeof key === 'string' && key.length >= 32)) {
      throw new Error('PrehashedBcryptPasswordHasher: the key is missing or short; write at least 32 characters.');
    }
    this.bcrypt = new BcryptPasswordHasher(cost);
    this.key = key ?? 'nestjs-session-auth password';
  }

  async hash(password: string): Promise<string> {
    return PREFIX + (await this.bcrypt.hash(this.digest(password)));
  }

  async verify(password: string, hash: string): Promise<boolean> {
    if (!hash.startsWith(PREFIX)) return this.bcrypt.verify(password, hash);
    if (Buffer.byteLength(password) > this.maxPasswordBytes) return false;
    return this.bcrypt.verify(this.digest(password), hash.slice(PREFIX.length));
  }

  accepts(hash: string): boolean {
    return this.bcrypt.accepts(hash.startsWith(PREFIX) ? hash.slice(PREFIX.length) : hash);
  }

  needsRehash(hash: string): boolean {
    return !hash.startsWith(PREFIX) || this.bcrypt.needsRehash(hash.slice(PREFIX.length));
  }

  /** 64 characters of base64: below bcrypt's 72 bytes, and without the NUL at which bcrypt would stop. */
  private digest(password: string): string {
    return createHmac('sha384', this.key).update(password).digest('base64');
  }
}
