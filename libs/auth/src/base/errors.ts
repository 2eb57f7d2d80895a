/** The codes of an `AuthError`. `docs/errors.md` lists the HTTP response for each code. */
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

/** The messages for the invalid fields, by field name. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/**
 * The error with which the library refuses a call. Its message contains no token, password, SQL or query parameter.
 */
export class AuthError extends Error {
  override readonly name: string = 'AuthError';
  readonly #loginTicket: string | null;

  constructor(
    readonly code: AuthErrorCode,
    message: string,
    readonly fields: FieldErrors = {},
    /** The number of seconds to wait before a retry, or null. */
    readonly retryAfterSeconds: number | null = null,
    loginTicket: string | null = null,
  ) {
    super(message);
    this.#loginTicket = loginTicket;
  }

  /**
   * The login ticket of a login that failed with `second_factor_required`, or null. The property is a getter, so that
   * logs of the error do not contain the ticket.
   */
  get loginTicket(): string | null {
    return this.#loginTicket;
  }
}

/** Returns the error for one invalid field. */
export function invalidField(field: string, message: string): AuthError {
  return new AuthError('invalid_field', `${field}: ${message}`, { [field]: [message] });
}

/** Checks that a field has no problem. @throws AuthError `invalid_field` if `problem` is not null */
export function assertValidField(field: string, problem: string | null): void {
  if (problem) throw invalidField(field, problem);
}

/** Returns the error for a call that the queue refuses, or for an attempt that waits too long for a slot. */
export function tooBusy(): AuthError {
  return new AuthError('busy', 'The server is busy. Try again in a moment.');
}

/**
 * Returns the error for a failure of the database.
 * @param retryAfterSeconds the delay before a retry. Default: 5
 */
export function databaseUnavailable(retryAfterSeconds = 5): AuthError {
  return new AuthError('database_unavailable', 'The database is unavailable.', {}, retryAfterSeconds);
}

/** Returns the error for a call without the required token. */
export function credentialsMissing(): AuthError {
  return new AuthError('credentials_missing', 'Authentication credentials were not provided.');
}

/** Returns whether a call failed with this error because the call had no valid access token. */
export function isTokenRefused(error: unknown): boolean {
  return error instanceof AuthError && ['credentials_missing', 'access_token_invalid'].includes(error.code);
}

/** Returns the error for a refresh token that is missing or not valid. */
export function invalidRefreshToken(): AuthError {
  return new AuthError('invalid_refresh_token', 'Invalid or expired refresh token.');
}

/**
 * Returns the error for an access token that is invalid, became invalid during the request, or belongs to a user who is
 * not active.
 */
export function invalidAccessToken(): AuthError {
  return new AuthError('access_token_invalid', 'Invalid or expired access token.');
}

/**
 * Returns the error for a login that needs a second factor.
 * @param loginTicket the ticket for the next step, or null
 */
export function secondFactorRequired(loginTicket: string | null = null): AuthError {
  return new AuthError('second_factor_required', 'A second factor is required.', {}, null, loginTicket);
}

export function invalidLoginTicket(): AuthError {
  return new AuthError('invalid_login_ticket', 'Invalid or expired login ticket.');
}

export function unknownUser(): AuthError {
  return new AuthError('unknown_user', 'There is no such user.');
}
