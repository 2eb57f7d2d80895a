import type { AuthError, AuthErrorCode } from '../domain/errors';

/** What a refusal looks like on the wire. */
export interface ErrorResponse {
  readonly status: number;
  readonly body: (error: AuthError) => object;
  readonly headers?: (error: AuthError) => Readonly<Record<string, string>>;
}

const detail = (error: AuthError): object => ({ detail: error.message });
const detailWithCode = (error: AuthError): object => ({ detail: error.message, code: error.code });
const nonFieldErrors = (error: AuthError): object => ({ non_field_errors: [error.message] });
const fields = (error: AuthError): object => ({ ...error.fields });

/** RFC 6750, section 3: a request without credentials is told no error code. */
const CHALLENGE = 'Bearer realm="api"';

/** The one table from refusals to answers. */
export const ERROR_RESPONSES: Readonly<Record<AuthErrorCode, ErrorResponse>> = {
  invalid_field: { status: 400, body: fields },
  invalid_credentials: { status: 400, body: nonFieldErrors },
  invalid_refresh_token: { status: 400, body: nonFieldErrors },
  credentials_missing: { status: 401, body: detail, headers: () => ({ 'WWW-Authenticate': CHALLENGE }) },
  credentials_ambiguous: { status: 400, body: detail },
  access_token_invalid: {
    status: 401,
    body: detail,
    headers: () => ({ 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` }),
  },
  session_not_found: { status: 404, body: detail },
  session_limit_reached: { status: 403, body: detailWithCode },
  recent_login_required: { status: 403, body: detailWithCode },
  invalid_reset_token: { status: 400, body: nonFieldErrors },
  too_many_attempts: {
    status: 429,
    body: detail,
    // RFC 6585, section 4; RFC 9110, section 10.2.3: whole seconds.
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(Math.max(1, retryAfterSeconds ?? 1)) }),
  },
  body_malformed: { status: 400, body: detail },
  body_not_json: { status: 415, body: detail },
  body_too_large: { status: 413, body: detail },
  username_taken: { status: 409, body: detailWithCode },
  unknown_user: { status: 404, body: detailWithCode },
  not_supported: { status: 501, body: detailWithCode },
  busy: { status: 503, body: detail, headers: () => ({ 'Retry-After': '1' }) },
  database_unavailable: { status: 503, body: detail, headers: () => ({ 'Retry-After': '5' }) },
};
