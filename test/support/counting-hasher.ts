import { BcryptPasswordHasher } from 'nestjs-session-auth';

/** bcrypt at its lowest cost. Records the hashes that it verifies. */
export class CountingHasher extends BcryptPasswordHasher {
  /** The hashes that passwords were verified against. */
  readonly verified: string[] = [];
  /** What verifications wait for, or null. */
  held: Promise<void> | null = null;

  constructor() {
    super(4);
  }

  override async verify(password: string, hash: string): Promise<boolean> {
    this.verified.push(hash);
    await this.held;
    return super.verify(password, hash);
  }
}
