import { applyDecorators, ValidationPipe } from '@nestjs/common';
import { Expose } from 'class-transformer';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { DEVICE_TYPES, type DeviceType } from '../adapters/device-detector';
import { AuthError } from '../base/errors';
import {
  FIELD_MESSAGES,
  PASSWORD_INPUT_BYTES,
  passwordProblem,
  textProblem,
  USERNAME_LENGTH,
  usernameProblem,
} from '../base/fields';
import { AUTH_EVENT_NAMES, type SessionState } from '../database/entities';
import type { AuthEventEntry, HistoryRequest } from '../history/history';
import type { SessionInfo } from '../history/signals';
import type { OpenedSession, TokenPair } from '../tokens/tokens';
import { ApiProperty, ApiSchema, type Schema, text, timestamp, uuid } from './openapi';
import type { AuthRequest } from './request';

/**
 * Declares a field of a request. It has a single rule, so that a client receives one message per field.
 * @param problem returns the message for an invalid value, or null
 */
const Field = (problem: (value: unknown) => string | null, schema: Schema): PropertyDecorator =>
  applyDecorators(
    Expose(),
    ValidateBy({
      name: 'check',
      validator: {
        validate: (value: unknown) => problem(value) === null,
        defaultMessage: (args?: ValidationArguments) => problem(args?.value) ?? '',
      },
    }),
    ApiProperty(schema),
  );

// `maxLength` counts characters. The limit in bytes is also an upper bound for the number of characters, because a
// character has at least one byte.
const PasswordField = (description: string, minLength = 1): PropertyDecorator =>
  Field(passwordProblem, {
    ...text(description, 'correct horse battery staple'),
    format: 'password',
    minLength,
    maxLength: PASSWORD_INPUT_BYTES,
  });

function optionalBooleanProblem(value: unknown): string | null {
  if (value === null) return FIELD_MESSAGES.null;
  return value === undefined || typeof value === 'boolean' ? null : FIELD_MESSAGES.boolean;
}

@ApiSchema('AuthLoginRequest')
export class LoginRequest {
  @Field((value) => usernameProblem(value, USERNAME_LENGTH), {
    ...text('The username. It is not trimmed.', 'alice'),
    minLength: 1,
    maxLength: USERNAME_LENGTH,
  })
  username!: string;

  @PasswordField("The user's password. It is not trimmed.")
  password!: string;
}

@ApiSchema('AuthRefreshRequest')
export class RefreshRequest {
  @Field(textProblem, {
    ...text('The current refresh token of the session, an opaque string.', 'nsar_…'),
    minLength: 1,
  })
  refresh_token!: string;
}

@ApiSchema('AuthLogoutAllRequest')
export class LogoutAllRequest {
  @Field(optionalBooleanProblem, {
    type: 'boolean',
    description: 'Whether to keep the session of this request. Default: false.',
    default: false,
    required: false,
  })
  keep_current?: boolean;
}

@ApiSchema('AuthReauthenticateRequest')
export class ReauthenticateRequest {
  @PasswordField("The user's password.")
  password!: string;
}

@ApiSchema('AuthPasswordChangeRequest')
export class PasswordChangeRequest {
  @PasswordField('The current password.')
  current_password!: string;

  @PasswordField('The new password. It must meet the password policy.', 8)
  new_password!: string;
}

/** Called in the handlers, because a global pipe of the application must not change the library's requests. */
const PIPE = new ValidationPipe({
  transform: true,
  transformOptions: { excludeExtraneousValues: true },
  exceptionFactory: (errors) => {
    const problems = errors.map((error) => [error.property, Object.values(error.constraints ?? {})] as const);
    return new AuthError('invalid_field', 'A field is missing or invalid.', Object.fromEntries(problems));
  },
});

/**
 * Reads the declared fields of the body into an instance of the DTO, and validates the instance. The application's
 * pipes do not apply.
 * @throws AuthError `invalid_field`, `body_malformed`, `body_not_json`
 */
export async function readBody<Dto extends object>(metatype: new () => Dto, request: AuthRequest): Promise<Dto> {
  const body = (await hasBody(request)) ? jsonObject(request) : {};
  // No field is an object. Deeply nested objects would overflow the stack of class-transformer.
  const fields = Object.entries(body).map(([name, value]: [string, unknown]) => {
    return [name, typeof value === 'object' && value !== null ? {} : value] as const;
  });
  return (await PIPE.transform(Object.fromEntries(fields), { type: 'body', metatype })) as Dto;
}

function jsonObject(request: AuthRequest): object {
  const { body } = request;
  if (!isJson(String(request.headers['content-type'])) || body === undefined) {
    throw new AuthError('body_not_json', 'The body must be JSON: send Content-Type: application/json.');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AuthError('body_malformed', 'The body must be a JSON object.');
  }
  return body;
}

/**
 * Returns whether a content type is JSON, with no charset or one that begins with `utf-`. Other charsets are refused,
 * because Fastify would read them as UTF-8. (RFC 8259, section 8.1)
 */
function isJson(contentType: string): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType) ?? [];
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType) && /^utf-/i.test(charset);
}

/** Returns whether a body was sent. Parsers turn an empty body into an empty object. */
async function hasBody(request: AuthRequest): Promise<boolean> {
  const { body, headers } = request;
  if (body !== undefined && !isDeepStrictEqual(body, {})) return true;
  const length = headers['content-length'];
  if (length !== undefined) return Number(length) > 0;
  return body === undefined && !(await isEmptyStream(request));
}

/** Returns whether a body that no parser has read is empty. */
async function isEmptyStream(request: AuthRequest): Promise<boolean> {
  if (!(request instanceof Readable) || request.readableEnded) return true;
  const [chunk] = (await Promise.race([once(request, 'data'), once(request, 'end')])) as unknown[];
  request.resume();
  return chunk === undefined;
}

/** Reads the query of `GET history/` from the URL, because query parsers treat repeated and empty parameters differently. */
export function historyRequestOf(url: string): HistoryRequest {
  const query = new URLSearchParams(url.split('?').slice(1).join('?'));
  const request: { limit?: number; before?: number; event?: readonly string[] } = {};
  for (const name of ['limit', 'before'] as const) {
    // The values of a repeated parameter are not an integer either.
    const values = query.getAll(name).join();
    if (query.has(name)) request[name] = /^[0-9]+$/.test(values) ? Number(values) : NaN;
  }
  const [events, ...others] = query.getAll('event');
  // An empty list is refused.
  if (events !== undefined) request.event = others.length > 0 ? [] : events.split(',');
  return request;
}

// Handlers return plain objects, because the application's interceptors may transform class instances.

@ApiSchema('AuthTokenPair')
export class TokenPairResponse {
  @ApiProperty(
    text('The access token, an opaque string. Send it in the header `Authorization: Bearer <access_token>`.', 'nsaa_…'),
  )
  access_token!: string;
  @ApiProperty(
    text('The refresh token, an opaque string. Send it to `token/refresh/` once to get a new pair.', 'nsar_…'),
  )
  refresh_token!: string;
  @ApiProperty({ type: 'string', enum: ['Bearer'], example: 'Bearer' }) token_type!: 'Bearer';
}

@ApiSchema('AuthOpenedSession')
export class OpenedSessionResponse extends TokenPairResponse {
  @ApiProperty(uuid('The id of the new session.')) session_id!: string;
}

const IP_ADDRESS = {
  ...text('The IP address at the login or event. Null if unknown or not tracked.', '203.0.113.7'),
  nullable: true,
};

@ApiSchema('AuthSession')
export class SessionResponse {
  @ApiProperty(uuid('The id of the session. Pass it to `DELETE sessions/{sessionId}` to end the session.')) id!: string;
  @ApiProperty({ ...text('The state. Only active sessions are listed.', 'active'), enum: ['active'] })
  state!: SessionState;
  @ApiProperty(IP_ADDRESS) ip_address!: string | null;
  @ApiProperty({ type: 'string', enum: [...DEVICE_TYPES], example: 'mobile' }) device_type!: DeviceType;
  @ApiProperty(text('The family of the operating system. `Other` if unknown.', 'Android')) os_family!: string;
  @ApiProperty(text('The family of the browser. `Other` if unknown.', 'Chrome Mobile')) browser_family!: string;
  @ApiProperty(text('The make and model of the device. `Other` if unknown.', 'Samsung SM-G991B')) device_name!: string;
  @ApiProperty(timestamp('The time of the login.')) created_at!: string;
  @ApiProperty(timestamp('The time of the last activity. By default, it is accurate to one minute.'))
  last_activity!: string;

  @ApiProperty({ type: 'boolean', description: 'Whether this is the session of the request.', example: true })
  is_current!: boolean;
}

@ApiSchema('AuthHistoryEntry')
export class HistoryEntryResponse {
  @ApiProperty({ type: 'integer', example: 1042 }) id!: number;
  @ApiProperty({ type: 'string', enum: [...AUTH_EVENT_NAMES], example: 'login_success' }) event!: string;
  @ApiProperty(IP_ADDRESS) ip_address!: string | null;
  @ApiProperty({
    ...text('The User-Agent header of the request. Empty if unknown or not tracked.', 'Mozilla/5.0'),
    maxLength: 500,
  })
  user_agent!: string;

  @ApiProperty({
    type: 'object',
    description: 'Details, which depend on the event. Empty for most events.',
    properties: {
      username: { type: 'string' },
      failure_count: { type: 'integer', minimum: 1 },
      session_id: { type: 'string', format: 'uuid' },
      reason: { type: 'string' },
      actor: { type: 'string' },
      sessions_ended: { type: 'integer', minimum: 0 },
      new_device: { type: 'boolean' },
      replayed: { type: 'boolean' },
      network_changed: { type: 'boolean' },
      scope: { type: 'string', enum: ['network', 'session', 'account'] },
      until: { type: 'string', format: 'date-time', nullable: true },
    },
    additionalProperties: true,
    example: { new_device: true },
  })
  extra!: Readonly<Record<string, unknown>>;

  @ApiProperty(timestamp('The time of the event.')) timestamp!: string;
}

export function tokenPairResponse(pair: TokenPair): TokenPairResponse {
  return { access_token: pair.accessToken, refresh_token: pair.refreshToken, token_type: 'Bearer' };
}

export function openedSessionResponse(opened: OpenedSession): OpenedSessionResponse {
  const { access_token, refresh_token, token_type } = tokenPairResponse(opened);
  return { access_token, refresh_token, session_id: opened.sessionId, token_type };
}

export function sessionResponse(session: SessionInfo): SessionResponse {
  return {
    id: session.id,
    state: session.state,
    ip_address: session.ipAddress,
    device_type: session.deviceType,
    os_family: session.osFamily,
    browser_family: session.browserFamily,
    device_name: session.deviceName,
    created_at: session.createdAt.toISOString(),
    last_activity: session.lastActivity.toISOString(),
    is_current: session.isCurrent,
  };
}

export function historyEntryResponse(entry: AuthEventEntry): HistoryEntryResponse {
  return {
    id: entry.id,
    event: entry.event,
    ip_address: entry.ipAddress,
    user_agent: entry.userAgent,
    extra: entry.extra,
    timestamp: entry.timestamp.toISOString(),
  };
}
