import { HttpException } from '@nestjs/common';
import type { AuthError, AuthErrorCode } from '../base/errors';
import type { AuthResponse } from './request';

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

/** The HTTP response for an error. */
export interface ErrorResponse {
  readonly status: number;
  readonly body: keyof typeof BODIES;
  readonly headers?: (error: AuthError) => Readonly<Record<string, string>>;
  /** The example message in the OpenAPI document. */
  readonly example?: string;
}

// In the response to a request without credentials, `WWW-Authenticate` contains no error code. (RFC
// 6750, section 3.1)
const CHALLENGE = 'Bearer realm="api"';

function retryAfter({ retryAfterSeconds }: AuthError): Record<string, string> {
  return { 'Retry-After': String(Math.max(1, retryAfterSeconds ?? 1)) };
}

/** The HTTP response for each error code. */
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
  session_limit_reached: { status: 403, body: 'detailWithCode', example: 'The session limit has been reached.' },
  recent_login_required: { status: 403, body: 'detailWithCode', example: 'A recent login is required.' },
  cross_site_request: {
    status: 403,
    body: 'detailWithCode',
    example: 'The request does not come from a trusted origin.',
  },
  second_factor_required: { status: 403, body: 'detailWithCode', example: 'A second factor is required.' },
  invalid_login_ticket: { status: 400, body: 'nonFieldErrors', example: 'Invalid or expired login ticket.' },
  invalid_reset_token: { status: 400, body: 'nonFieldErrors' },
  too_many_attempts: {
    status: 429,
    body: 'detail',
    // `Retry-After` contains whole seconds. (RFC 6585, section 4; RFC 9110, section 10.2.3)
    headers: retryAfter,
    example: 'Too many failed attempts. Try again later.',
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
    example: 'The database is unavailable.',
  },
};

/** Returns the JSON body of an error. */
export function errorBody(error: AuthError): object {
  return BODIES[ERROR_RESPONSES[error.code].body](error);
}

/** An `AuthError` as a Nest exception. The body is the same on the library's routes and on the application's routes. */
export class AuthHttpException extends HttpException {
  constructor(readonly error: AuthError) {
    super(errorBody(error), ERROR_RESPONSES[error.code].status);
    // GraphQL sends the message to the client.
    this.message = error.message;
  }
}

/**
 * Returns the exception to throw for an error. Sets `Cache-Control: no-store` and the headers of the error
 * on the response, so that these headers are sent regardless of which filter responds.
 */
export function httpExceptionFor(error: AuthError, response: AuthResponse): AuthHttpException {
  response.header('Cache-Control', 'no-store');
  const headers = ERROR_RESPONSES[error.code].headers?.(error) ?? {};
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  return new AuthHttpException(error);
}
