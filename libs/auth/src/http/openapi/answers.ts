import { FIELD_MESSAGES } from '../../domain/fields';
import { refTo, type ModelName, type Schema } from './models';

/** One answer of an endpoint. */
export interface Answer {
  readonly description: string;
  readonly schema: Schema;
  readonly headers: Readonly<Record<string, Schema>>;
  /** Bodies by the name of their case. */
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

export type Answers = Readonly<Record<number, Answer>>;

const CACHE_CONTROL = {
  'Cache-Control': {
    description: 'Tells caches to keep nothing.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] },
  },
};
const RETRY_AFTER = {
  'Retry-After': {
    description: 'When to try again, in seconds.',
    required: true,
    schema: { type: 'integer', minimum: 1, example: 30 },
  },
};
const WWW_AUTHENTICATE = {
  'WWW-Authenticate': {
    description: 'RFC 6750, section 3: `error="invalid_token"` where a token was sent.',
    required: true,
    schema: { type: 'string', example: 'Bearer realm="api", error="invalid_token"' },
  },
};

const answer = (description: string, schema: Schema, headers: Answer['headers'] = {}): Answer => ({
  description,
  schema,
  headers: { ...CACHE_CONTROL, ...headers },
});
const detail = (description: string, headers: Answer['headers'] = {}): Answer =>
  answer(description, refTo('AuthDetail'), headers);

/** The endpoint did what it was asked. */
export const done = (description: string, model: ModelName): Answers => ({ 200: answer(description, refTo(model)) });
export const doneWithList = (description: string, model: ModelName): Answers => ({
  200: answer(description, { type: 'array', items: refTo(model) }),
});
/** The same, told in a sentence. */
export const doneSaying = (sentence: string): Answers => ({
  200: { ...detail('Done.'), examples: { done: { summary: 'Done', value: { detail: sentence } } } },
});

/** What is wrong with a request is told field by field, or in a sentence where it is no field of it. */
export function badRequest(fields: readonly string[], cases: NonNullable<Answer['examples']> = {}): Answers {
  const messages = { type: 'array', items: { type: 'string' }, minItems: 1 };
  const byField = {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, messages])),
    additionalProperties: false,
    minProperties: 1,
  };
  const schema = fields.length === 0 ? refTo('AuthDetail') : { oneOf: [byField, refTo('AuthDetail')] };
  const first = fields[0];
  const missing =
    first === undefined
      ? {}
      : { field: { summary: 'A field is missing or wrong', value: { [first]: [FIELD_MESSAGES.required] } } };
  return { 400: { ...answer('The request is refused as it is.', schema), examples: { ...cases, ...missing } } };
}

/** Whatever answers 400 with `non_field_errors`. */
export const invalid = (message: string): NonNullable<Answer['examples']> => ({
  invalid: { summary: message, value: { non_field_errors: [message] } },
});

export const UNREADABLE_BODY: Answers = {
  413: detail('The body is too large.'),
  415: detail('The body is not JSON.'),
};

export const UNAUTHENTICATED: Answers = {
  401: {
    ...detail('No live access token of an active user was sent.', WWW_AUTHENTICATE),
    examples: {
      missing: { summary: 'No token', value: { detail: 'Authentication credentials were not provided.' } },
      invalid: { summary: 'Any other token', value: { detail: 'Invalid or expired access token.' } },
    },
  },
};

export const SESSION_LIMIT: Answers = {
  403: answer('The user has as many sessions as this service allows.', refTo('AuthSessionLimitReached')),
};

export const RECENT_LOGIN: Answers = {
  403: answer('This service asks for a recent login to end sessions.', refTo('AuthRecentLoginRequired')),
};

export const SESSION_NOT_FOUND: Answers = {
  404: detail('No active session of this user has this id.'),
};

export const TOO_MANY_ATTEMPTS: Answers = {
  429: {
    ...detail('Too many failed logins.', RETRY_AFTER),
    examples: { delayed: { summary: 'Delayed', value: { detail: 'Too many failed logins. Try again later.' } } },
  },
};

export const UNAVAILABLE: Answers = {
  503: {
    ...detail('The database does not answer, or too many passwords are being verified.', RETRY_AFTER),
    examples: { database: { summary: 'No database', value: { detail: 'The database does not answer.' } } },
  },
};
