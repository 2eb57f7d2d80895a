import { HttpException } from '@nestjs/common';

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

/** The HTTP response for an error. */
interface ErrorResponse {
  readonly status: number;
  readonly body: keyof typeof BODIES;
  /** The standard message of the code. Without one, each error of this code has its own message. */
  readonly message?: string;
}

/** The HTTP response for each error code. */
export const ERROR_RESPONSES: Readonly<Record<AuthErrorCode, ErrorResponse>> = {
  invalid_field: { status: 400, body: 'fields' },
  invalid_credentials: { status: 400, body: 'nonFieldErrors', message: 'Invalid credentials.' },
  invalid_refresh_token: { status: 400, body: 'nonFieldErrors', message: 'Invalid or expired refresh token.' },
  invalid_login_ticket: { status: 400, body: 'nonFieldErrors', message: 'Invalid or expired login ticket.' },
  invalid_reset_token: { status: 400, body: 'nonFieldErrors' },
  credentials_ambiguous: { status: 400, body: 'detail' },
  body_malformed: { status: 400, body: 'detail' },
  credentials_missing: {
    status: 401,
    body: 'detailWithCode',
    message: 'Authentication credentials were not provided.',
  },
  access_token_invalid: { status: 401, body: 'detailWithCode', message: 'Invalid or expired access token.' },
  session_limit_reached: { status: 403, body: 'detailWithCode', message: 'The session limit has been reached.' },
  recent_login_required: { status: 403, body: 'detailWithCode', message: 'A recent login is required.' },
  cross_site_request: {
    status: 403,
    body: 'detailWithCode',
    message: 'The request does not come from a trusted origin.',
  },
  second_factor_required: { status: 403, body: 'detailWithCode', message: 'A second factor is required.' },
  session_not_found: { status: 404, body: 'detail', message: 'Session not found.' },
  unknown_user: { status: 404, body: 'detailWithCode' },
  username_taken: { status: 409, body: 'detailWithCode' },
  body_too_large: { status: 413, body: 'detail' },
  body_not_json: { status: 415, body: 'detail' },
  too_many_attempts: { status: 429, body: 'detail', message: 'Too many failed attempts. Try again later.' },
  not_supported: { status: 501, body: 'detailWithCode' },
  busy: { status: 503, body: 'detail' },
  database_unavailable: { status: 503, body: 'detail', message: 'The database is unavailable.' },
};

const BODIES = {
  detail: ({ message }: AuthError): object => ({ detail: message }),
  detailWithCode: ({ message, code, loginTicket }: AuthError): object => ({
    detail: message,
    code,
    ...(loginTicket === null ? {} : { login_ticket: loginTicket }),
  }),
  nonFieldErrors: ({ message }: AuthError): object => ({ non_field_errors: [message] }),
  fields: ({ fields }: AuthError): object => ({ ...fields }),
};

/** The messages for the invalid fields, by field name. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** The codes that GraphQL servers use for these statuses in `extensions.code`. */
const GRAPHQL_CODES: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
};

/**
 * The error with which the library refuses a call: an `HttpException` with the status and body of the library's
 * endpoints. Its message contains no token, password, SQL or query parameter.
 */
export class AuthError extends HttpException {
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
    super(message, ERROR_RESPONSES[code].status);
    this.#loginTicket = loginTicket;
  }

  /**
   * The login ticket of a login that failed with `second_factor_required`, or null. The property is a getter, so that
   * logs of the error do not contain the ticket.
   */
  get loginTicket(): string | null {
    return this.#loginTicket;
  }

  /** The extensions of the error in a GraphQL response. */
  get extensions(): { readonly code: string; readonly authCode: AuthErrorCode } {
    return { code: GRAPHQL_CODES[this.getStatus()] ?? 'INTERNAL_SERVER_ERROR', authCode: this.code };
  }

  /** Returns the body of the HTTP response. */
  override getResponse(): object {
    return BODIES[ERROR_RESPONSES[this.code].body](this);
  }
}

/** Returns the error with the standard message of a code that has one. */
export function standardError(
  code: AuthErrorCode,
  retryAfterSeconds: number | null = null,
  loginTicket: string | null = null,
): AuthError {
  return new AuthError(code, ERROR_RESPONSES[code].message!, {}, retryAfterSeconds, loginTicket);
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
  return standardError('database_unavailable', retryAfterSeconds);
}

/** Returns the error for a call without the required token. */
export function credentialsMissing(): AuthError {
  return standardError('credentials_missing');
}

/** Returns whether a call failed with this error because the call had no valid access token. */
export function isTokenRefused(error: unknown): boolean {
  return error instanceof AuthError && error.getStatus() === 401;
}

/** Returns the error for a refresh token that is missing or not valid. */
export function invalidRefreshToken(): AuthError {
  return standardError('invalid_refresh_token');
}

/**
 * Returns the error for an access token that is invalid, became invalid during the request, or belongs to a user who is
 * not active.
 */
export function invalidAccessToken(): AuthError {
  return standardError('access_token_invalid');
}

/**
 * Returns the error for a login that needs a second factor.
 * @param loginTicket the ticket for the next step, or null
 */
export function secondFactorRequired(loginTicket: string | null = null): AuthError {
  return standardError('second_factor_required', null, loginTicket);
}

export function invalidLoginTicket(): AuthError {
  return standardError('invalid_login_ticket');
}

export function unknownUser(): AuthError {
  return new AuthError('unknown_user', 'There is no such user.');
}
