import {
  applyDecorators,
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  HttpException,
  Logger,
  SerializeOptions,
  UseFilters,
  ValidationPipe,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import type * as Microservices from '@nestjs/microservices';
import type * as WebSockets from '@nestjs/websockets';
import { Expose } from 'class-transformer';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { AuthError } from '../base/errors';
import {
  optionalBooleanProblem,
  PASSWORD_INPUT_BYTES,
  passwordProblem,
  textProblem,
  USERNAME_LENGTH,
  usernameProblem,
} from '../base/fields';
import { toFailureReport } from '../base/failures';
import type { OpenedSession, TokenPair } from '../tokens/tokens';
import { ApiProperty, ApiSchema, ApiTag, type Schema, text, uuid } from './openapi';
import type { AuthRequest, AuthResponse } from './request';

/** Declares a field of a request. It has a single rule, so that a client receives one message per field. */
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

// `maxLength` counts characters, of which each has at least one byte.
const PasswordField = (description: string, minLength = 1): PropertyDecorator =>
  Field(passwordProblem, {
    ...text(description, 'correct horse battery staple'),
    format: 'password',
    minLength,
    maxLength: PASSWORD_INPUT_BYTES,
  });

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

/** The request with the option `rememberMe`. */
@ApiSchema('AuthLoginRequest')
export class RememberingLoginRequest extends LoginRequest {
  @Field(optionalBooleanProblem, {
    type: 'boolean',
    description: 'Whether to remember the session, with the option `rememberMe`. Default: false.',
    required: false,
  })
  remember_me?: boolean;
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

// Called in the handlers, because a global pipe of the application must not change the library's requests.
const PIPE = new ValidationPipe({
  transform: true,
  transformOptions: { excludeExtraneousValues: true },
  exceptionFactory: (errors) => {
    const problems = errors.map((error) => [error.property, Object.values(error.constraints ?? {})] as const);
    return new AuthError('invalid_field', 'A field is missing or invalid.', Object.fromEntries(problems));
  },
});

/** Reads and validates the declared fields. @throws AuthError `invalid_field`, `body_malformed`, `body_not_json` */
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

/** Other charsets than Unicode are refused, because Fastify would read them as UTF-8. (RFC 8259, section 8.1) */
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

async function isEmptyStream(request: AuthRequest): Promise<boolean> {
  if (!(request instanceof Readable) || request.readableEnded) return true;
  const first = Promise.race([once(request, 'data'), once(request, 'end')]) as Promise<unknown[]>;
  const [chunk] = await first.catch(() => {
    throw new AuthError('body_malformed', 'The connection ended before the body.');
  });
  request.resume();
  return chunk === undefined;
}

// Handlers return plain objects, because the application's interceptors may transform class instances.

@ApiSchema('AuthTokenPair')
export class TokenPairResponse {
  @ApiProperty(text('An opaque string. Send it in the header `Authorization: Bearer <access_token>`.', 'nsaa_…'))
  access_token!: string;
  @ApiProperty(text('An opaque string. Send it to `token/refresh/` once to get a new pair.', 'nsar_…'))
  refresh_token!: string;
  @ApiProperty({ type: 'string', enum: ['Bearer'], example: 'Bearer' }) token_type!: 'Bearer';
}

@ApiSchema('AuthOpenedSession')
export class OpenedSessionResponse extends TokenPairResponse {
  @ApiProperty(uuid('The id of the new session.')) session_id!: string;
}

export function tokenPairResponse(pair: TokenPair): TokenPairResponse {
  return { access_token: pair.accessToken, refresh_token: pair.refreshToken, token_type: 'Bearer' };
}

export function openedSessionResponse(opened: OpenedSession): OpenedSessionResponse {
  const { access_token, refresh_token, token_type } = tokenPairResponse(opened);
  return { access_token, refresh_token, session_id: opened.sessionId, token_type };
}

// In the response to a request without credentials, `WWW-Authenticate` contains no error code. (RFC 6750, section 3.1)
const CHALLENGE = 'Bearer realm="api"';

/** Returns the headers of the response to an error, besides `Cache-Control: no-store`. */
export function headersOf(error: AuthError): Readonly<Record<string, string>> {
  if (error.code === 'credentials_missing') return { 'WWW-Authenticate': CHALLENGE };
  if (error.code === 'access_token_invalid') return { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` };
  // `Retry-After` contains whole seconds. (RFC 6585, section 4; RFC 9110, section 10.2.3)
  const isTemporary = [429, 503].includes(error.getStatus());
  return isTemporary ? { 'Retry-After': String(Math.max(1, error.retryAfterSeconds ?? 1)) } : {};
}

/** Sets the headers of an error, which are sent whichever filter responds. */
function setErrorHeaders(error: unknown, response: AuthResponse): void {
  const headers = { 'Cache-Control': 'no-store', ...(error instanceof AuthError ? headersOf(error) : {}) };
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
}

/* eslint-disable @typescript-eslint/no-require-imports -- optional peers, installed if the transport is used */
const loadWebSockets = (): typeof WebSockets => require('@nestjs/websockets') as typeof WebSockets;
const loadMicroservices = (): typeof Microservices => require('@nestjs/microservices') as typeof Microservices;
/* eslint-enable @typescript-eslint/no-require-imports */

/** Returns the exception with which the transport reports an error. Over HTTP, also sets the headers of an `AuthError`. */
export function exceptionFor(call: ArgumentsHost, error: unknown): unknown {
  if (!(error instanceof AuthError)) return error;
  const content = { status: 'error', code: error.extensions.authCode, message: error.message };
  if (call.getType() === 'http') setErrorHeaders(error, call.switchToHttp().getResponse<AuthResponse>());
  if (call.getType() === 'ws') return new (loadWebSockets().WsException)(content);
  if (call.getType() === 'rpc') return new (loadMicroservices().RpcException)(content);
  return error;
}

/**
 * Reports an uncaught `AuthError` in the form of the transport. `AuthModule` registers it as a global filter, which Nest
 * does not apply to gateways: add `@UseFilters(AuthErrorFilter)` to each. In a hybrid application, connect microservices
 * with `inheritAppConfig: true`.
 */
@Catch(AuthError)
export class AuthErrorFilter implements ExceptionFilter<AuthError> {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(error: AuthError, host: ArgumentsHost): unknown {
    const exception = exceptionFor(host, error);
    if (host.getType() === 'http') return new BaseExceptionFilter(this.adapterHost.httpAdapter).catch(error, host);
    // The transports' own filters respond, because a WebSocket client gets no response if a filter throws.
    if (host.getType() === 'ws') return new (loadWebSockets().BaseWsExceptionFilter)().catch(exception, host);
    if (host.getType() === 'rpc') return new (loadMicroservices().BaseRpcExceptionFilter)().catch(exception, host);
    // GraphQL reports an exception that a filter throws.
    throw error;
  }
}

/** Sends the documented error bodies on the library's routes. */
@Catch()
export class LibraryRouteFilter implements ExceptionFilter {
  private readonly logger = new Logger('LibraryRouteFilter');

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<AuthResponse>();
    setErrorHeaders(exception, response);
    const status = exception instanceof HttpException ? exception.getStatus() : 500;
    this.adapterHost.httpAdapter.reply(response, this.bodyOf(exception), status);
  }

  private bodyOf(exception: unknown): object {
    if (exception instanceof AuthError) return exception.getResponse();
    if (exception instanceof HttpException) return { detail: exception.message };
    // For example, the application's password hasher or password check threw an error.
    const { summary, stack } = toFailureReport(exception);
    this.logger.error(`Unexpected ${summary}`, stack);
    return { detail: 'Internal server error.' };
  }
}

/** Declares a controller of the library. Its routes have no version, and respond with the documented errors. */
export const LibraryController = (): ClassDecorator =>
  applyDecorators(
    Controller({ version: VERSION_NEUTRAL }),
    UseFilters(LibraryRouteFilter),
    // The application's ClassSerializerInterceptor may exclude all properties.
    SerializeOptions({ strategy: 'exposeAll' }),
    ApiTag('Authentication'),
  );
