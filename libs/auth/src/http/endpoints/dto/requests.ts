import { OptionalBooleanField, PasswordField, TextField, UsernameField } from './fields';

export class LoginRequest {
  @UsernameField('Compared as sent.') username!: string;
  @PasswordField('Compared as sent.') password!: string;
}

export class RefreshRequest {
  @TextField('The latest refresh token of the session. Opaque.', 'nsar_…') refresh_token!: string;
}

export class LogoutAllRequest {
  @OptionalBooleanField('Whether to keep the session of this request.') keep_current?: boolean;
}

export class ReauthenticateRequest {
  @PasswordField('The password of the user.') password!: string;
}

export class PasswordChangeRequest {
  @PasswordField('The current password.') current_password!: string;
  @PasswordField('The new password. The password policy of the service applies.', 8) new_password!: string;
}
