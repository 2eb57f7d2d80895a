import { HttpException } from '@nestjs/common';
import type { AuthError, AuthErrorCode } from '../../domain/errors';
import type { AuthResponse } from '../platform/request';

const BODIES = {
  detail: ({ message }: AuthError): object => ({ detail: message }),
  detailWithCode: ({ message, code, loginTicket }: AuthError): object => ({
    detail: message,
    code,
    ...(loginTicket === null ? {} : { login_ticket: loginTicket }),
  }),
  nonFieldErrors: ({ message }: AuthError): object => ({ non_field_errors: [message] }),
  fields: ({ fields }: AuthError): object => ({ ...fields }),
} as const;

/** The HTTP response to an error. */
export interface ErrorResponse {
  readonly status: number;
  readonly body: keyof typeof BODIES;
  readonly headers?: (error: AuthError) => Readonly<Record<string, string>>;
  /** The message in the OpenAPI document. */
  readonly example?: string;
}

// RFC 6750, section 3: without credentials there is no error code.
const CHALLENGE = 'Bearer realm="api"';

/** The one table from error codes to responses. */
export const ERROR_RESPONSES: Readonly<Record<AuthErrorCode, ErrorResponse>> = {
  invalid_field: { status: 400, body: 'fields' },
  invalid_credentials: { status: 400, body: 'nonFieldErrors', example: 'Invalid credentials.' },
  invalid_refresh_token: { status: 400, body: 'nonFieldErrors', example: 'Invalid or expired refresh token.' },
  credentials_missing: {
    status: 401,
    body: 'detailWithCode',
    headers: () => ({ 'WWW-Authenticate': CHALLENGE }),
    example: 'Authentication credentials were not provided.',
  },
  credentials_ambiguous: { status: 400, body: 'detail' },
  access_token_invalid: {
    status: 401,
    body: 'detailWithCode',
    headers: () => ({ 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` }),
    example: 'Invalid or expired access token.',
  },
  session_not_found: { status: 404, body: 'detail', example: 'Session not found.' },
  session_limit_reached: { status: 403, body: 'detailWithCode', example: 'The session limit is reached.' },
  recent_login_required: { status: 403, body: 'detailWithCode', example: 'A recent login is required.' },
  cross_site_request: { status: 403, body: 'detailWithCode', example: 'The request comes from another site.' },
  second_factor_required: { status: 403, body: 'detailWithCode', example: 'A second factor is required.' },
  invalid_login_ticket: { status: 400, body: 'nonFieldErrors', example: 'Invalid or expired login ticket.' },
  invalid_reset_token: { status: 400, body: 'nonFieldErrors' },
  too_many_attempts: {
    status: 429,
    body: 'detail',
    // RFC 6585, section 4; RFC 9110, section 10.2.3: whole seconds.
    headers: retryAfter,
    example: 'Too many failed logins. Try again later.',
  },
  body_malformed: { status: 400, body: 'detail' },
  body_not_json: { status: 415, body: 'detail' },
  body_too_large: { status: 413, body: 'detail' },
  username_taken: { status: 409, body: 'detailWithCode' },
  unknown_user: { status: 404, body: 'detailWithCode' },
  not_supported: { status: 501, body: 'detailWithCode' },
  busy: { status: 503, body: 'detail', headers: retryAfter },
  database_unavailable: {
    status: 503,
    body: 'detail',
    headers: retryAfter,
    example: 'The database does not answer.',
  },
};

function retryAfter({ retryAfterSeconds }: AuthError): Record<string, string> {
  return { 'Retry-After': String(Math.max(1, retryAfterSeconds ?? 1)) };
}

/** Returns the JSON body of an error. */
export function errorBody(error: AuthError): object {
  return BODIES[ERROR_RESPONSES[error.code].body](error);
}

/** An error as an exception of Nest. The body is the library's on the application's routes too. */
export class AuthHttpException extends HttpException {
  constructor(readonly error: AuthError) {
    super(errorBody(error), ERROR_RESPONSES[error.code].status);
    // GraphQL reports it.
    this.message = error.message;
  }
}

/** Returns the exception to throw. Its headers are set now, so they are sent whoever responds. */
export function httpExceptionFor(error: AuthError, response: AuthResponse): AuthHttpException {
  response.header('Cache-Control', 'no-store');
  const headers = ERROR_RESPONSES[error.code].headers?.(error) ?? {};
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  return new AuthHttpException(error);
}
