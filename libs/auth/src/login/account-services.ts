import { Injectable } from '@nestjs/common';
import { Accounts } from '../accounts/accounts';
import { UserPassword } from '../passwords/change-password';
import { Reauthentication } from '../passwords/in-session';
import { Passwords } from '../passwords/passwords';
import { PasswordReset } from '../passwords/reset-password';
import { SecretAttempts } from './second-factor';

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
