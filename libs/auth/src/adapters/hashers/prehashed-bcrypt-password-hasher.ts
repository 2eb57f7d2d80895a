import { createHmac } from 'node:crypto';
import { PasswordHasher } from '../password-hasher';
import { BcryptPasswordHasher } from './bcrypt-password-hasher';

/** Before the bcrypt hash. It contains the id of the key, if the key has one. */
const PREFIX = /^\$hmac-sha384(?:\.([\w-]{1,32}))?(?=\$2)/;

/** A key of `PrehashedBcryptPasswordHasher`. */
export interface PasswordKey {
  /** A secret outside the database, of at least 32 characters. Default: no secret. */
  readonly key?: string;
  /** A name that is stored with each hash, of at most 32 letters, digits, `_` and `-`. Default: no name. */
  readonly keyId?: string;
}

/**
 * Hashes an HMAC-SHA-384 of the password with bcrypt, so that up to 4,096 bytes count instead of 72. Plain bcrypt hashes
 * of a cost up to 15 stay valid, and need a rehash. With a secret `key`, a copy of the users table is not enough to guess
 * passwords. If the key is lost, no password matches these hashes.
 */
export class PrehashedBcryptPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 4096;
  private readonly bcrypt: BcryptPasswordHasher;
  private readonly prefix: string;
  readonly #keys = new Map<string | undefined, string>();

  /**
   * @param given `cost`: the base-2 logarithm of the number of rounds, 4 to 15. Default: 12. `key`, `keyId`: the key of
   *   new hashes. `otherKeys`: keys whose hashes stay valid, and need a rehash with `key`
   * @throws Error if `cost` is out of range, if a `key` is present but is not a string of at least 32 characters, or if
   *   a `keyId` is invalid or not unique
   */
  constructor(given: PasswordKey & { readonly cost?: number; readonly otherKeys?: readonly PasswordKey[] } = {}) {
    super();
    const { cost = 12, keyId, otherKeys = [] } = given;
    this.bcrypt = new BcryptPasswordHasher(cost);
    this.prefix = prefixOf(keyId);
    for (const one of [given, ...otherKeys]) {
      // An undefined environment variable must not lead to hashes without a secret.
      if ('key' in one && !(typeof one.key === 'string' && one.key.length >= 32)) {
        throw new Error('PrehashedBcryptPasswordHasher: the key is missing or too short. Use at least 32 characters.');
      }
      if (this.#keys.has(one.keyId) || !PREFIX.test(`${prefixOf(one.keyId)}$2`)) {
        throw new Error(
          `PrehashedBcryptPasswordHasher: the keyId ${one.keyId} is invalid or not unique. Use letters and digits.`,
        );
      }
      this.#keys.set(one.keyId, one.key ?? 'nestjs-session-auth password');
    }
  }

  async hash(password: string): Promise<string> {
    return this.prefix + (await this.bcrypt.hash(digest(password, this.#keys.values().next().value!)));
  }

  async verify(password: string, hash: string): Promise<boolean> {
    const [prefix, keyId] = PREFIX.exec(hash) ?? [];
    if (prefix === undefined) return this.bcrypt.verify(password, hash);
    const key = this.#keys.get(keyId);
    if (key === undefined || Buffer.byteLength(password) > this.maxPasswordBytes) return false;
    return this.bcrypt.verify(digest(password, key), hash.slice(prefix.length));
  }

  accepts(hash: string): boolean {
    const [prefix = '', keyId] = PREFIX.exec(hash) ?? [];
    return this.bcrypt.accepts(hash.slice(prefix.length)) && (prefix === '' || this.#keys.has(keyId));
  }

  needsRehash(hash: string): boolean {
    const [prefix = ''] = PREFIX.exec(hash) ?? [];
    return prefix !== this.prefix || this.bcrypt.needsRehash(hash.slice(prefix.length));
  }
}

function prefixOf(keyId: string | undefined): string {
  return keyId === undefined ? '$hmac-sha384' : `$hmac-sha384.${keyId}`;
}

/** 64 characters of base64 fit into bcrypt's 72 bytes, and none is NUL, at which some implementations stop. */
function digest(password: string, key: string): string {
  return createHmac('sha384', key).update(password).digest('base64');
}
