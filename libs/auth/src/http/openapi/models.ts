import type { AuthEventName } from '../../domain/auth-event';
import { DEVICE_TYPES } from '../../domain/device';
import type { AuthErrorCode } from '../../domain/errors';
import { PASSWORD_INPUT_BYTES } from '../../domain/fields';
import { USERNAME_LENGTH } from '../../domain/username';

/** A schema as OpenAPI writes it; `required: false` marks a property that may be missing. */
export type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, example: string): Schema => ({ type: 'string', description, example });
const instant = (description: string): Schema => ({
  type: 'string',
  format: 'date-time',
  description: `${description} ISO 8601 in UTC.`,
  example: '2026-01-15T10:23:00.123Z',
});
const uuid = (description: string): Schema => ({
  type: 'string',
  format: 'uuid',
  description,
  example: '3f2b8c1e-5d0a-4b7e-9c43-1a2b3c4d5e6f',
});
// A byte of UTF-8 is a character at the most.
const password = (description: string, minLength: number = 1): Schema => ({
  type: 'string',
  format: 'password',
  description,
  minLength,
  maxLength: PASSWORD_INPUT_BYTES,
  example: 'correct horse battery staple',
});
const ipAddress: Schema = {
  ...text('Null where it is not tracked or not known.', '203.0.113.7'),
  nullable: true,
};
const code = (only: AuthErrorCode): Schema => ({ ...text('Tells this refusal from others.', only), enum: [only] });

const EVENTS: Readonly<Record<AuthEventName, true>> = {
  login_success: true,
  login_failure: true,
  logout: true,
  token_refresh: true,
  token_reuse: true,
  password_change: true,
  password_reset: true,
  session_revoked: true,
  forced_logout: true,
};

const tokenPair = {
  access_token: text('Goes into `Authorization: Bearer`. Opaque.', 'nsaa_…'),
  refresh_token: text('Works once, at `token/refresh`. Opaque.', 'nsar_…'),
  token_type: { ...text('', 'Bearer'), enum: ['Bearer'] },
} as const;

/** Every body that goes over the wire, but for the errors of fields: property by property. */
export const MODELS = {
  AuthLoginRequest: {
    username: { ...text('Compared as it is sent.', 'alice'), minLength: 1, maxLength: USERNAME_LENGTH },
    password: password('Compared as it is sent.'),
  },
  AuthRefreshRequest: { refresh_token: { ...tokenPair.refresh_token, minLength: 1 } },
  AuthLogoutAllRequest: {
    keep_current: {
      type: 'boolean',
      description: 'Whether the session of this request stays.',
      default: false,
      required: false,
    },
  },
  AuthPasswordChangeRequest: {
    current_password: password('The password so far.'),
    new_password: password('At least as long as the policy of this service asks for.', 8),
  },
  AuthReauthenticateRequest: { password: password('The password of the user of this session.') },
  AuthTokenPair: tokenPair,
  AuthLoginAnswer: { ...tokenPair, session_id: uuid('The session that was opened.') },
  AuthSession: {
    id: uuid('Names the session, in `DELETE sessions/{sessionId}` too.'),
    state: { ...text('Active ones alone are listed.', 'active'), enum: ['active'] },
    ip_address: ipAddress,
    device_type: { ...text('', 'mobile'), enum: [...DEVICE_TYPES] },
    os_family: text('`Other` when not identified.', 'Android'),
    browser_family: text('`Other` when not identified.', 'Chrome Mobile'),
    device_name: text('As its owner would call it; `Other` when not identified.', 'Samsung SM-G991B'),
    created_at: instant('When the login was.'),
    last_activity: instant('Written once a minute or so.'),
    is_current: {
      type: 'boolean',
      description: 'True for the session of this request, and for no other.',
      example: true,
    },
  },
  AuthHistoryEntry: {
    id: { type: 'integer', example: 1042 },
    event: { ...text('', 'login_success'), enum: Object.keys(EVENTS) },
    ip_address: ipAddress,
    user_agent: { ...text('As sent; empty where it is not tracked.', 'Mozilla/5.0'), maxLength: 500 },
    extra: {
      type: 'object',
      description: 'What there is to tell of this kind of event; `{}` for most.',
      properties: {
        username: { type: 'string' },
        failure_count: { type: 'integer', minimum: 1 },
        session_id: { type: 'string', format: 'uuid' },
        reason: { type: 'string' },
        actor: { type: 'string' },
        sessions_ended: { type: 'integer', minimum: 0 },
        new_device: { type: 'boolean' },
      },
      additionalProperties: true,
      example: { new_device: true },
    },
    timestamp: instant('When it happened.'),
  },
  AuthDetail: { detail: text('A sentence for people.', 'Session not found.') },
  AuthSessionLimitReached: {
    detail: text('A sentence for people.', 'The session limit is reached.'),
    code: code('session_limit_reached'),
  },
  AuthRecentLoginRequired: {
    detail: text('A sentence for people.', 'A recent login is required.'),
    code: code('recent_login_required'),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Schema>>>>;

export type ModelName = keyof typeof MODELS;

/** Where a model stands in the document. */
export const refTo = (name: ModelName): Schema => ({ $ref: `#/components/schemas/${name}` });
