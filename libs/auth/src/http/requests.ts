import { ValidationPipe } from '@nestjs/common';
import { Expose } from 'class-transformer';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { AuthError, invalidField } from '../base/errors';
import {
  FIELD_MESSAGES,
  PASSWORD_INPUT_BYTES,
  passwordProblem,
  textProblem,
  USERNAME_LENGTH,
  usernameProblem,
} from '../base/fields';
import type { HistoryRequest } from '../history/history';
import { ApiProperty, ApiSchema, type Schema, text } from './openapi';
import type { AuthRequest } from './request';

/**
 * Validates a field by a single rule, so that a client receives one message per field.
 * @param problem returns the message for an invalid value, or null
 */
const Check = (problem: (value: unknown) => string | null): PropertyDecorator =>
  ValidateBy({
    name: 'check',
    validator: {
      validate: (value: unknown) => problem(value) === null,
      defaultMessage: (args?: ValidationArguments) => problem(args?.value) ?? '',
    },
  });

const IsText = (): PropertyDecorator => Check(textProblem);

const IsUsername = (): PropertyDecorator => Check((value) => usernameProblem(value, USERNAME_LENGTH));

const IsPassword = (): PropertyDecorator => Check(passwordProblem);

const IsOptionalBoolean = (): PropertyDecorator =>
  Check((value) => {
    if (value === null) return FIELD_MESSAGES.null;
    return value === undefined || typeof value === 'boolean' ? null : FIELD_MESSAGES.boolean;
  });

// `maxLength` counts characters. The limit in bytes is also an upper bound for the number of characters, because a
// character has at least one byte.
const password = (description: string, minLength = 1): Schema => ({
  ...text(description, 'correct horse battery staple'),
  format: 'password',
  minLength,
  maxLength: PASSWORD_INPUT_BYTES,
});

@ApiSchema('AuthLoginRequest')
export class LoginRequest {
  @Expose()
  @IsUsername()
  @ApiProperty({ ...text('The username. It is not trimmed.', 'alice'), minLength: 1, maxLength: USERNAME_LENGTH })
  username!: string;

  @Expose()
  @IsPassword()
  @ApiProperty(password("The user's password. It is not trimmed."))
  password!: string;
}

@ApiSchema('AuthRefreshRequest')
export class RefreshRequest {
  @Expose()
  @IsText()
  @ApiProperty({ ...text('The current refresh token of the session, an opaque string.', 'nsar_…'), minLength: 1 })
  refresh_token!: string;
}

@ApiSchema('AuthLogoutAllRequest')
export class LogoutAllRequest {
  @Expose()
  @IsOptionalBoolean()
  @ApiProperty({
    type: 'boolean',
    description: 'Whether to keep the session of this request. Default: false.',
    default: false,
    required: false,
  })
  keep_current?: boolean;
}

@ApiSchema('AuthReauthenticateRequest')
export class ReauthenticateRequest {
  @Expose()
  @IsPassword()
  @ApiProperty(password("The user's password."))
  password!: string;
}

@ApiSchema('AuthPasswordChangeRequest')
export class PasswordChangeRequest {
  @Expose()
  @IsPassword()
  @ApiProperty(password('The current password.'))
  current_password!: string;

  @Expose()
  @IsPassword()
  @ApiProperty(password('The new password. It must meet the password policy.', 8))
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
  if (!isJson(header(request, 'content-type')) || body === undefined) {
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

async function hasBody(request: AuthRequest): Promise<boolean> {
  if (header(request, 'transfer-encoding') === '') return Number(header(request, 'content-length') || 0) > 0;
  return request.body === undefined ? !(await isEmptyStream(request)) : !isEmpty(request.body);
}

/** Returns whether a body that no parser has read is empty. */
async function isEmptyStream(request: AuthRequest): Promise<boolean> {
  if (!(request instanceof Readable) || request.readableEnded) return true;
  const [chunk] = (await Promise.race([once(request, 'data'), once(request, 'end')])) as unknown[];
  request.resume();
  return chunk === undefined;
}

/** Returns whether a parsed body may have been empty. Parsers turn an empty chunked body into an empty object. */
function isEmpty(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0 && !Array.isArray(body);
}

function header(request: AuthRequest, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Reads the query of `GET history/` from the URL, because query parsers treat repeated and empty parameters differently.
 * @throws AuthError `invalid_field`
 */
export function historyRequestOf(url: string): HistoryRequest {
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
  const limit = integerOf(query, 'limit');
  const before = integerOf(query, 'before');
  const events = query.getAll('event');
  if (events.length > 1) throw invalidField('event', FIELD_MESSAGES.event);
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(before === undefined ? {} : { before }),
    ...(events[0] === undefined ? {} : { event: events[0].split(',') }),
  };
}

function integerOf(query: URLSearchParams, name: string): number | undefined {
  const values = query.getAll(name);
  if (values.length === 0) return undefined;
  if (values.length > 1 || !/^[0-9]+$/.test(values[0]!)) throw invalidField(name, FIELD_MESSAGES.integer);
  return Number(values[0]);
}
