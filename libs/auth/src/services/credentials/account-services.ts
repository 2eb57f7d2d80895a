import { Injectable } from '@nestjs/common';
import { Accounts } from './accounts';
import { PasswordReset } from './password-reset';
import { Passwords } from './passwords';
import { Reauthentication } from './reauthentication';
import { SecretAttempts } from './secret-attempts';
import { UserPassword } from './user-password';

/** The use cases of users and their passwords, grouped for `AuthService`. */
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
