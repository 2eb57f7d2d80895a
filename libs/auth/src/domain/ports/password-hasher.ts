/**
 * Makes and checks password hashes.
 *
 * Bind your own with the option `passwordHasher`. The library decides how many of these calls run at the same time
 * (option `hashing`), and calls `verify` exactly once per login attempt, whether the user exists or not.
 */
export abstract class PasswordHasher {
  /** The longest password that the hash takes in full, in bytes of UTF-8. A longer one is refused or never matches. */
  abstract readonly maxPasswordBytes: number;

  /** A hash with a salt of its own, to be stored. */
  abstract hash(password: string): Promise<string>;

  /** Whether the password is the one that was hashed. A hash that it cannot read answers false, and never throws. */
  abstract verify(password: string, hash: string): Promise<boolean>;

  /** Whether `verify` can read this hash and would spend the usual work on it. */
  abstract accepts(hash: string): boolean;

  /** Whether the hash is weaker than what `hash` makes today and should be made anew at the next good login. */
  abstract needsRehash(hash: string): boolean;
}
