import { createHmac } from 'node:crypto';
import { PasswordHasher } from '../password-hasher';
import { BcryptPasswordHasher } from './bcrypt-password-hasher';

const PREFIX = '$hmac-sha384';

/**
 * Hashes an HMAC-SHA-384 of the password with bcrypt, so that up to 4,096 bytes count instead of 72. Plain bcrypt hashes
 * of a cost up to 15 stay valid, and need a rehash. With a secret `key`, a copy of the users table is not enough to guess
 * passwords. If the key is lost, no password matches these hashes.
 */
export class PrehashedBcryptPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 4096;
  private readonly bcrypt: BcryptPasswordHasher;
  readonly #key: string;

  /**
   * @param given `cost`: the base-2 logarithm of the number of rounds, 4 to 15. Default: 12. `key`: a secret outside the
   *   database, of at least 32 characters. Default: no secret
   * @throws Error if `cost` is out of range, or `key` is present but is not a string of at least 32 characters
   */
  constructor(given: { readonly cost?: number; readonly key?: string } = {}) {
    super();
    const { cost = 12, key } = given;
    // An undefined environment variable must not lead to hashes without a secret.
    if ('key' in given && !(typeof key === 'string' && key.length >= 32)) {
      throw new Error('PrehashedBcryptPasswordHasher: the key is missing or too short. Use at least 32 characters.');
    }
    this.bcrypt = new BcryptPasswordHasher(cost);
    this.#key = key ?? 'nestjs-session-auth password';
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

  /** 64 characters of base64 fit into bcrypt's 72 bytes, and none is NUL, at which some implementations stop. */
  private digest(password: string): string {
    return createHmac('sha384', this.#key).update(password).digest('base64');
  }
}
