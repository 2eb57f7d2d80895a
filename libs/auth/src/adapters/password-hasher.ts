/**
 * Creates and verifies password hashes. Set the option `passwordHasher` to a class that extends this one, or to an
 * instance. The option `hashing` limits how many calls run at the same time.
 */
export abstract class PasswordHasher {
  /** The maximum length of a password that is hashed in full, in bytes of UTF-8. A longer password is refused. */
  abstract readonly maxPasswordBytes: number;

  /** Returns a new hash, with its own salt, to be stored. */
  abstract hash(password: string): Promise<string>;

  /**
   * Returns whether the password matches the hash, or false for an unsupported hash. Verifying a weaker hash must take
   * as long as verifying a new one. Otherwise, the duration would reveal which names exist.
   */
  abstract verify(password: string, hash: string): Promise<boolean>;

  /** Returns whether `verify` can read this hash with a reasonable amount of work. */
  abstract accepts(hash: string): boolean;

  /**
   * Returns whether the hash is weaker than a new hash. If so, and if the user store can set passwords, the user's next
   * login by password replaces the hash.
   */
  abstract needsRehash(hash: string): boolean;
}
