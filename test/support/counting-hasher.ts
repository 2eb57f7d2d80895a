import { PasswordHasher } from 'nestjs-session-auth';
import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/bcrypt-password-hasher';

/** bcrypt at its lowest cost. Records the hashes that it verifies. */
export class CountingHasher extends PasswordHasher {
  readonly maxPasswordBytes = 72;
  /** The hashes that passwords were verified against. */
  readonly verified: string[] = [];
  /** What verifications wait for, or null. */
  held: Promise<void> | null = null;
  private readonly bcrypt = new BcryptPasswordHasher(4);

  hash(password: string): Promise<string> {
    return this.bcrypt.hash(password);
  }

  async verify(password: string, hash: string): Promise<boolean> {
    this.verified.push(hash);
    await this.held;
    return this.bcrypt.verify(password, hash);
  }

  accepts(hash: string): boolean {
    return this.bcrypt.accepts(hash);
  }

  needsRehash(hash: string): boolean {
    return this.bcrypt.needsRehash(hash);
  }
}
