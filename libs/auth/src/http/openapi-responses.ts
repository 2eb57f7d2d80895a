import { AuthError, type AuthErrorCode } from '../base/errors';
import { FIELD_MESSAGES } from '../base/fields';
import type { Endpoint } from './endpoints';
import { ERROR_RESPONSES, errorBody } from './error-responses';
import { cookieErrors, type DescribedMode, withCookieBody } from './openapi';
import { type Model, propertiesOf, type Schema, text } from './property';
import { DetailResponse, OpenedSessionResponse } from './responses';

/** A response of an endpoint. */
export interface Response {
  readonly description: string;
  readonly schema: Schema;
  readonly headers: Readonly<Record<string, Schema>>;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'Success.',
  400: 'The request is malformed, or contains an invalid field, invalid credentials or an invalid refresh token.',
  401: 'The request has no valid access token of an active user.',
  403: 'The request is refused. `code` contains the reason.',
  404: 'The user has no active session with this id.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  429: 'Too many failed attempts.',
  503: 'The database, the user store or the second factor is unavailable, or the server is busy.',
};

const header = (description: string, schema: Schema): Schema => ({ description, required: true, schema });

const CACHE_CONTROL = {
  'Cache-Control': header('Caches must not store the response.', { type: 'string', enum: ['no-store'] }),
};

const RETRY_AFTER = {
  'Retry-After': header('The number of seconds to wait before retrying.', { type: 'integer', minimum: 1, example: 30 }),
};

const HEADERS: Readonly<Record<number, Response['headers']>> = {
  401: {
    'WWW-Authenticate': header(
      'The challenge of RFC 6750, section 3, with `error="invalid_token"` if an access token was sent.',
      {
        type: 'string',
        example: 'Bearer realm="api", error="invalid_token"',
      },
    ),
  },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

const COMMON: readonly AuthErrorCode[] = ['database_unavailable'];

const PROTECTED: readonly AuthErrorCode[] = ['credentials_missing', 'access_token_invalid', 'credentials_ambiguous'];

const BODY: readonly AuthErrorCode[] = ['body_malformed', 'body_too_large', 'body_not_json'];

/** An example login ticket. */
const TICKET = 'nsal_…';

/** Returns the schema name of a DTO class. The prefix `Auth` distinguishes it from the application's schemas. */
export function nameOf(model: Model): string {
  return `Auth${model.name.replace(/Response$/, '')}`;
}

export function refTo(model: Model | string): Schema {
  return { $ref: `#/components/schemas/${typeof model === 'string' ? model : nameOf(model)}` };
}

/** Returns the responses of an endpoint by status. */
export function responsesOf(endpoint: Endpoint, mode: DescribedMode): Readonly<Record<number, Response>> {
  const codes = errorsOf(endpoint, mode);
  const statuses = [...new Set(codes.map((code) => ERROR_RESPONSES[code].status))];
  const errors = statuses.map((status) => {
    const codesOfStatus = codes.filter((code) => ERROR_RESPONSES[code].status === status);
    return [status, errorResponse(status, codesOfStatus, fieldsOf(endpoint))] as const;
  });
  return { 200: successResponse(endpoint, mode), ...Object.fromEntries(errors) };
}

/** Returns the properties of the schema of an error with a code. */
export function codedProperties(code: AuthErrorCode): Readonly<Record<string, Schema>> {
  const { detail } = propertiesOf(DetailResponse);
  return {
    detail: { ...detail, example: ERROR_RESPONSES[code].example },
    code: { ...text('The reason for the refusal.', code), enum: [code] },
    ...(code === 'second_factor_required'
      ? { login_ticket: text('A login ticket, an opaque string. The next step of the login requires it.', TICKET) }
      : {}),
  };
}

/** Returns the schema name of an error code, such as `AuthSessionLimitReached` for `session_limit_reached`. */
export function codedName(code: AuthErrorCode): string {
  return `Auth_${code}`.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns those error codes of an endpoint that the response body contains. Each of these codes has its own schema. */
export function codedErrors(endpoint: Endpoint, mode: DescribedMode): AuthErrorCode[] {
  return errorsOf(endpoint, mode).filter((code) => ERROR_RESPONSES[code].body === 'detailWithCode');
}

function errorsOf(endpoint: Endpoint, mode: DescribedMode): AuthErrorCode[] {
  return [
    ...(endpoint.errors ?? []),
    ...cookieErrors(endpoint, mode),
    ...(fieldsOf(endpoint).length > 0 ? (['invalid_field'] as const) : []),
    ...(endpoint.method === 'POST' ? BODY : []),
    ...(endpoint.isPublic ? [] : PROTECTED),
    ...COMMON,
  ];
}

function fieldsOf({ body, query }: Endpoint): string[] {
  return [...Object.keys(body ? propertiesOf(body) : {}), ...Object.keys(query ?? {})];
}

function successResponse(endpoint: Endpoint, mode: DescribedMode): Response {
  const { returns } = endpoint;
  const base = { description: DESCRIPTIONS[200]!, headers: CACHE_CONTROL };
  if (typeof returns === 'string') {
    const examples = { success: { summary: returns, value: { detail: returns } } };
    return { ...base, schema: refTo(DetailResponse), examples };
  }
  if (typeof returns === 'function') {
    const { session_id: sessionId } = propertiesOf(OpenedSessionResponse);
    return { ...base, schema: withCookieBody(endpoint, mode, refTo(returns), sessionId!) };
  }
  return { ...base, schema: { type: 'array', items: refTo(returns[0]) } };
}

function errorResponse(status: number, codes: readonly AuthErrorCode[], fields: readonly string[]): Response {
  const bodies = new Set(codes.map((code) => ERROR_RESPONSES[code].body));
  const named = [...fields, ...(bodies.has('nonFieldErrors') ? ['non_field_errors'] : [])];
  const coded = codes.filter((code) => ERROR_RESPONSES[code].body === 'detailWithCode');
  const schemas = [
    ...(named.length > 0 && bodies.has('fields') ? [fieldErrors(named)] : []),
    ...coded.map((code) => refTo(codedName(code))),
    ...(bodies.has('detail') ? [refTo(DetailResponse)] : []),
  ];
  const examples = codes.flatMap((code) => {
    const { example = code === 'invalid_field' ? 'A field is missing.' : undefined } = ERROR_RESPONSES[code];
    if (example === undefined) return [];
    const ticket = code === 'second_factor_required' ? TICKET : null;
    const error = new AuthError(code, example, { [fields[0]!]: [FIELD_MESSAGES.required] }, null, ticket);
    return [[code, { summary: example, value: errorBody(error) }] as const];
  });
  return {
    description: DESCRIPTIONS[status]!,
    headers: { ...CACHE_CONTROL, ...HEADERS[status] },
    schema: schemas.length === 1 ? schemas[0]! : { oneOf: schemas },
    ...(examples.length > 0 ? { examples: Object.fromEntries(examples) } : {}),
  };
}

/** Returns the schema of an object that maps field names to messages. */
function fieldErrors(fields: readonly string[]): Schema {
  const messages = { type: 'array', items: { type: 'string' }, minItems: 1 };
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, messages])),
    additionalProperties: false,
    minProperties: 1,
  };
}
