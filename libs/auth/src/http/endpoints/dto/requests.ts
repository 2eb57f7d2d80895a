import { OptionalBooleanField, PasswordField, TextField, UsernameField } from './fields';

export class LoginRequest {
  @UsernameField('The username. It is not trimmed.') username!: string;
  @PasswordField("The user's password. It is not trimmed.") password!: string;
}

export class RefreshRequest {
  @TextField('The current refresh token of the session, an opaque string.', 'nsar_…') refresh_token!: string;
}

export class LogoutAllRequest {
  @OptionalBooleanField('Whether to keep the session of this request. Default: false.') keep_current?: boolean;
}

export class ReauthenticateRequest {
  @PasswordField("The user's password.") password!: string;
}

export class PasswordChangeRequest {
  @PasswordField('The current password.') current_password!: string;
  @PasswordField('The new password. It must meet the password policy.', 8) new_password!: string;
}
