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
   * Returns whether the password matches the hash, or false for an unsupported hash. Must take as long for a weaker hash
   * as for a new one. Otherwise, the duration would reveal which names exist.
   */
  abstract verify(password: string, hash: string): Promise<boolean>;

  /** Returns whether `verify` can read this hash with a reasonable amount of work. */
  abstract accepts(hash: string): boolean;

  /** Returns whether the hash is weaker than a new hash. If so, the user's next login replaces it. */
  abstract needsRehash(hash: string): boolean;
}
