import { PasswordHasher } from '../password-hasher';

/** Verifies password hashes in the format of a former system. It never creates new hashes. */
export abstract class FormerHashes {
  /** Returns whether the hash has this format. Must return false for a hash that would take too long to verify. */
  abstract accepts(hash: string): boolean;
  /** Returns whether the password matches. Must return false for a hash that `accepts` refuses. Must not reject. */
  abstract verify(password: string, hash: string): Promise<boolean>;
}

/**
 * Also verifies the hashes of a former system. If the user store can set passwords, each hash is replaced at its user's
 * next successful login:
 * `passwordHasher: new MigratingPasswordHasher(new BcryptPasswordHasher(12), new DjangoPbkdf2Hashes())`.
 */
export class MigratingPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes: number;
  private readonly former: readonly FormerHashes[];

  /**
   * @param current creates the new hashes
   * @param former the formats of the former system
   * @throws Error if there is no former format
   */
  constructor(
    private readonly current: PasswordHasher,
    ...former: FormerHashes[]
  ) {
    super();
    if (former.length === 0)
      throw new Error(
        'MigratingPasswordHasher requires at least one former hash format. Pass one after the current hasher, or use the current hasher alone.',
      );
    this.maxPasswordBytes = current.maxPasswordBytes;
    this.former = former;
  }

  hash(password: string): Promise<string> {
    return this.current.hash(password);
  }

  async verify(password: string, hash: string): Promise<boolean> {
    const former = this.formerOf(hash);
    if (!former) return this.current.verify(password, hash);
    // Also computes a current hash, because a cheap former hash would be verified faster.
    const [matches] = await Promise.all([former.verify(password, hash), this.current.hash(password)]);
    return matches;
  }

  accepts(hash: string): boolean {
    return this.formerOf(hash) !== undefined || this.current.accepts(hash);
  }

  needsRehash(hash: string): boolean {
    return this.formerOf(hash) !== undefined || this.current.needsRehash(hash);
  }

  private formerOf(hash: string): FormerHashes | undefined {
    return this.current.accepts(hash) ? undefined : this.former.find((one) => one.accepts(hash));
  }
}
