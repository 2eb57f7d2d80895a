import { HttpException } from '@nestjs/common';

type BodyKind = 'detail' | 'detailWithCode' | 'nonFieldErrors' | 'fields';

const response = (status: number, body: BodyKind, message?: string) => ({ status, body, message });

/** The HTTP response for each error code, with the standard message of codes that have one. */
export const ERROR_RESPONSES = {
  invalid_field: response(400, 'fields'),
  invalid_credentials: response(400, 'nonFieldErrors', 'Invalid credentials.'),
  invalid_refresh_token: response(400, 'nonFieldErrors', 'Invalid or expired refresh token.'),
  invalid_login_ticket: response(400, 'nonFieldErrors', 'Invalid or expired login ticket.'),
  invalid_reset_token: response(400, 'nonFieldErrors', 'Invalid or expired token.'),
  credentials_ambiguous: response(400, 'detail'),
  body_malformed: response(400, 'detail'),
  credentials_missing: response(401, 'detailWithCode', 'Authentication credentials were not provided.'),
  access_token_invalid: response(401, 'detailWithCode', 'Invalid or expired access token.'),
  login_refused: response(403, 'detailWithCode'),
  session_limit_reached: response(403, 'detailWithCode', 'The session limit has been reached.'),
  recent_login_required: response(403, 'detailWithCode', 'A recent login is required.'),
  insufficient_role: response(403, 'detailWithCode', 'You do not have the required role.'),
  session_required: response(403, 'detailWithCode', 'This call requires a session.'),
  api_key_not_allowed: response(403, 'detailWithCode', 'This call does not accept API keys.'),
  insufficient_scope: response(403, 'detailWithCode', 'The API key does not have the required scope.'),
  api_key_limit_reached: response(403, 'detailWithCode', 'The limit of API keys has been reached.'),
  not_allowed_while_impersonating: response(403, 'detailWithCode', 'Not allowed while you act as a user.'),
  impersonation_refused: response(403, 'detailWithCode', 'You may not act as this user.'),
  cross_site_request: response(403, 'detailWithCode', 'The request does not come from a trusted origin.'),
  second_factor_required: response(403, 'detailWithCode', 'A second factor is required.'),
  session_not_found: response(404, 'detail', 'Session not found.'),
  api_key_not_found: response(404, 'detailWithCode', 'API key not found.'),
  unknown_user: response(404, 'detailWithCode'),
  username_taken: response(409, 'detailWithCode', 'A user with this username already exists.'),
  body_too_large: response(413, 'detail'),
  body_not_json: response(415, 'detail'),
  too_many_attempts: response(429, 'detail', 'Too many failed attempts. Try again later.'),
  not_supported: response(501, 'detailWithCode'),
  busy: response(503, 'detail'),
  database_unavailable: response(503, 'detail', 'The database is unavailable.'),
};

/** The codes of an `AuthError`. `docs/errors.md` lists the HTTP response for each code. */
export type AuthErrorCode = keyof typeof ERROR_RESPONSES;

const BODIES: Readonly<Record<BodyKind, (error: AuthError) => object>> = {
  detail: ({ message }) => ({ detail: message }),
  detailWithCode: ({ message, extensions, loginTicket }) => ({
    detail: message,
    code: extensions.authCode,
    ...(loginTicket === null ? {} : { login_ticket: loginTicket }),
  }),
  nonFieldErrors: ({ message }) => ({ non_field_errors: [message] }),
  fields: ({ fields }) => ({ ...fields }),
};

/** The messages for the invalid fields, by field name. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** The values of `extensions.code` in GraphQL responses. */
const GRAPHQL_CODES: Partial<Record<number, string>> = { 400: 'BAD_REQUEST', 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN' };

/**
 * The error with which the library refuses a call: an `HttpException` with the status and body of the library's
 * endpoints. Its message contains no token, password, SQL or query parameter.
 */
export class AuthError extends HttpException {
  override readonly name: string = 'AuthError';
  /** Private, so that logs of the error do not contain the ticket. */
  readonly #loginTicket: string | null;

  constructor(
    readonly code: AuthErrorCode,
    message: string,
    readonly fields: FieldErrors = {},
    /** The number of seconds to wait before a retry, or null. */
    readonly retryAfterSeconds: number | null = null,
    loginTicket: string | null = null,
    /** The code with which your `LoginPolicy` refused the login (`login_refused`), or null. Replaces `code` in responses. */
    readonly reason: string | null = null,
  ) {
    super(message, ERROR_RESPONSES[code].status);
    this.#loginTicket = loginTicket;
  }

  /** The login ticket of a login that failed with `second_factor_required`, or null. */
  get loginTicket(): string | null {
    return this.#loginTicket;
  }

  /** The extensions of the error in a GraphQL response. */
  get extensions(): Readonly<{ code: string; authCode: string; fields?: FieldErrors; retryAfterSeconds?: number }> {
    return {
      code: GRAPHQL_CODES[this.getStatus()] ?? 'INTERNAL_SERVER_ERROR',
      authCode: this.reason ?? this.code,
      ...(this.code === 'invalid_field' ? { fields: this.fields } : {}),
      ...(this.retryAfterSeconds === null ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
    };
  }

  /** Returns the body of the HTTP response. */
  override getResponse(): object {
    return BODIES[ERROR_RESPONSES[this.code].body](this);
  }
}

export function standardError(
  code: AuthErrorCode,
  retryAfterSeconds: number | null = null,
  loginTicket: string | null = null,
): AuthError {
  return new AuthError(code, ERROR_RESPONSES[code].message!, {}, retryAfterSeconds, loginTicket);
}

export const credentialsMissing = (): AuthError => standardError('credentials_missing');
export const invalidAccessToken = (): AuthError => standardError('access_token_invalid');
export const invalidRefreshToken = (): AuthError => standardError('invalid_refresh_token');
export const invalidLoginTicket = (): AuthError => standardError('invalid_login_ticket');
export const unknownUser = (): AuthError => new AuthError('unknown_user', 'There is no such user.');
export const tooBusy = (): AuthError => new AuthError('busy', 'The server is busy. Try again in a moment.');
export const notSupported = (message: string): AuthError => new AuthError('not_supported', message);
export const databaseUnavailable = (retryAfterSeconds = 5): AuthError =>
  standardError('database_unavailable', retryAfterSeconds);
export const secondFactorRequired = (loginTicket: string | null = null): AuthError =>
  standardError('second_factor_required', null, loginTicket);
export const loginRefused = ({ code, detail }: { readonly code: string; readonly detail: string }): AuthError =>
  new AuthError('login_refused', detail, {}, null, null, code);
export const invalidField = (field: string, message: string): AuthError =>
  new AuthError('invalid_field', `${field}: ${message}`, { [field]: [message] });

export function assertValidField(field: string, problem: string | null): void {
  if (problem) throw invalidField(field, problem);
}

/** Throw it from a check of your own that could not be carried out, so that the attempt does not count as failed. */
export class VerificationUnavailable extends Error {
  override readonly name = 'VerificationUnavailable';
}
