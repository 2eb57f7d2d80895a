import { PasswordHasher } from '../../domain/ports/platform';

/** Hashes of a kind that is not made any more. */
export abstract class FormerHashes {
  /** Whether it is one of this kind, and asks for no more work than is reasonable. */
  abstract accepts(hash: string): boolean;
  /** Whether the password is the one that was hashed; false for what it does not accept, and never throws. */
  abstract verify(password: string, hash: string): Promise<boolean>;
}

/**
 * Verifies hashes that another system stored, which the next login replaces:
 * `passwordHasher: new MigratingPasswordHasher(new BcryptPasswordHasher(12), new DjangoPbkdf2Hashes())`.
 */
export class MigratingPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes: number;
  private readonly former: readonly FormerHashes[];

  /** @param current makes the new ones */
  constructor(
    private readonly current: PasswordHasher,
    ...former: FormerHashes[]
  ) {
    super();
    if (former.length === 0) throw new Error('MigratingPasswordHasher: name the former hashes, or leave it out.');
    this.maxPasswordBytes = current.maxPasswordBytes;
    this.former = former;
  }

  hash(password: string): Promise<string> {
    return this.current.hash(password);
  }

  async verify(password: string, hash: string): Promise<boolean> {
    const former = this.formerOf(hash);
    if (!former) return this.current.verify(password, hash);
    // Beside a hash of the current kind: the time must not reveal who has a former one.
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
