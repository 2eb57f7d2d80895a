import { invalidField } from '../domain/errors';
import { FIELD_MESSAGES, passwordProblem } from '../domain/fields';
import type { PasswordHasher } from '../domain/ports/password-hasher';
import type { ResolvedAuthOptions } from '../options/auth-options';
import { refuseField } from './login';
import type { PasswordVerifier } from './password-verifier';

/** What may become a password, and its hash. */
export class NewPassword {
  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly hasher: PasswordHasher,
    private readonly verifier: PasswordVerifier,
  ) {}

  /** @throws AuthError `invalid_field` for a password that cannot be hashed in full */
  async hash(password: string, field: string): Promise<string> {
    this.refuseUnhashable(password, field);
    return this.verifier.hash(password);
  }

  /**
   * The hash of a password that a user is to have. Its length counts and what the host's check says; what it is made of does
   * not. (NIST SP 800-63B-4, 3.1.1.2; ASVS 6.2.1, 6.2.4, 6.2.5)
   * @throws AuthError `invalid_field` with what is wrong
   */
  async accept(password: string, field: string, username: string): Promise<string> {
    this.refuseUnhashable(password, field);
    const { minLength, check } = this.options.passwordPolicy;
    if ([...password].length < minLength) throw invalidField(field, FIELD_MESSAGES.tooShort(minLength));
    const problem = await check?.(password, { username });
    if (problem) throw invalidField(field, problem);
    return this.verifier.hash(password);
  }

  private refuseUnhashable(password: string, field: string): void {
    refuseField(field, passwordProblem(password));
    const most = this.hasher.maxPasswordBytes;
    if (Buffer.byteLength(password) > most) throw invalidField(field, FIELD_MESSAGES.passwordTooLong(most));
  }
}
