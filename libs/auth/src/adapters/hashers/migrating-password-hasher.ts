import { PasswordHasher } from '../password-hasher';

/** Verifies password hashes in the format of a former system. It never creates new hashes. */
export abstract class FormerHashes {
  /** Returns whether the hash has this format. Must return false for a hash that would take too long to verify. */
  abstract accepts(hash: string): boolean;
  /** Returns whether the password matches. Must return false for a hash that `accepts` refuses. Must not reject. */
  abstract verify(password: string, hash: string): Promise<boolean>;
}

/**
 * Also verifies the hashes of a former system, which need a rehash:
 * `passwordHasher: new MigratingPasswordHasher(new BcryptPasswordHasher(12), new DjangoPbkdf2Hashes())`.
 */
export class MigratingPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes: number;
  private readonly former: readonly FormerHashes[];

  /** @param current creates the new hashes */
  constructor(
    private readonly current: PasswordHasher,
    ...former: FormerHashes[]
  ) {
    super();
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
