import { OptionalBooleanField, PasswordField, TextField, UsernameField } from './fields';

/** The bodies of requests; see `readBody`. */
export class LoginRequest {
  @UsernameField()
  username!: string;

  @PasswordField()
  password!: string;
}

export class RefreshRequest {
  @TextField()
  refresh_token!: string;
}

export class LogoutAllRequest {
  @OptionalBooleanField()
  keep_current?: boolean;
}

export class ReauthenticateRequest {
  @PasswordField()
  password!: string;
}

export class PasswordChangeRequest {
  @PasswordField()
  current_password!: string;

  @PasswordField()
  new_password!: string;
}
