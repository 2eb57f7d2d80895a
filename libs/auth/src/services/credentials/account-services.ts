import { Injectable } from '@nestjs/common';
import { Accounts } from './accounts';
import { PasswordReset } from './password-reset';
import { Passwords } from './passwords';
import { Reauthentication } from './reauthentication';
import { SecretAttempts } from './secret-attempts';
import { UserPassword } from './user-password';

/** Groups the services for users and their credentials that `AuthService` calls. */
@Injectable()
export class AccountServices {
  constructor(
    readonly accounts: Accounts,
    readonly passwords: Passwords,
    readonly password: UserPassword,
    readonly passwordReset: PasswordReset,
    readonly reauthentication: Reauthentication,
    readonly secretAttempts: SecretAttempts,
  ) {}
}
