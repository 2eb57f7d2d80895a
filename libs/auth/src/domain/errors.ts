/** The errors of the library. `http/endpoints/error-responses.ts` maps each to a status and a body. */
export type AuthErrorCode =
  | 'invalid_field'
  | 'invalid_credentials'
  | 'invalid_refresh_token'
  | 'credentials_missing'
  | 'credentials_ambiguous'
  | 'access_token_invalid'
  | 'session_not_found'
  | 'session_limit_reached'
  | 'recent_login_required'
  | 'cross_site_request'
  | 'second_factor_required'
  | 'invalid_login_ticket'
  | 'invalid_reset_token'
  | 'too_many_attempts'
  | 'body_malformed'
  | 'body_not_json'
  | 'body_too_large'
  | 'username_taken'
  | 'unknown_user'
  | 'not_supported'
  | 'busy'
  | 'database_unavailable';

/** Field name -> what is wrong with it. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** A refusal. Its message is safe to show: it contains no token, password, SQL or parameter. */
export class AuthError extends Error {
  override readonly name: string = 'AuthError';
  readonly #loginTicket: string | null;

  constructor(
    readonly code: AuthErrorCode,
    message: string,
    readonly fields: FieldErrors = {},
    /** When it may be tried again, where that is known. */
    readonly retryAfterSeconds: number | null = null,
    loginTicket: string | null = null,
  ) {
    super(message);
    this.#loginTicket = loginTicket;
  }

  /** With `second_factor_required` of a login: the ticket to continue with. Not a property, so that no log shows it. */
  get loginTicket(): string | null {
    return this.#loginTicket;
  }
}

/** One field is missing, of the wrong type or out of bounds. */
export function invalidField(field: string, message: string): AuthError {
  return new AuthError('invalid_field', `${field}: ${message}`, { [field]: [message] });
}

/** @throws AuthError `invalid_field` if there is a problem with the field */
export function assertValidField(field: string, problem: string | null): void {
  if (problem) throw invalidField(field, problem);
}

/** More passwords are being verified, or queued, than this process allows. */
export function tooBusy(): AuthError {
  return new AuthError('busy', 'Too many passwords are being verified.');
}

/** The database does not answer, or failed. @param retryAfterSeconds when it may be tried again */
export function databaseUnavailable(retryAfterSeconds = 5): AuthError {
  return new AuthError('database_unavailable', 'The database does not answer.', {}, retryAfterSeconds);
}

/** No credentials came with a call that needs them. */
export function credentialsMissing(): AuthError {
  return new AuthError('credentials_missing', 'Authentication credentials were not provided.');
}

/** Whether a call was refused for want of a valid access token. */
export function isTokenRefused(error: unknown): boolean {
  return error instanceof AuthError && ['credentials_missing', 'access_token_invalid'].includes(error.code);
}

/** Unknown, expired, revoked or used: the same for all. */
export function invalidRefreshToken(): AuthError {
  return new AuthError('invalid_refresh_token', 'Invalid or expired refresh token.');
}

/** Not a live access token of an active user, or its session ended while the request was served. */
export function invalidAccessToken(): AuthError {
  return new AuthError('access_token_invalid', 'Invalid or expired access token.');
}

/** The first step was right. @param loginTicket the ticket to continue with, where one was created */
export function secondFactorRequired(loginTicket: string | null = null): AuthError {
  return new AuthError('second_factor_required', 'A second factor is required.', {}, null, loginTicket);
}

export function invalidLoginTicket(): AuthError {
  return new AuthError('invalid_login_ticket', 'Invalid or expired login ticket.');
}

export function unknownUser(): AuthError {
  return new AuthError('unknown_user', 'There is no such user.');
}
