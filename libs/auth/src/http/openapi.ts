import { applyDecorators, type CustomDecorator, Header, HttpCode, SetMetadata } from '@nestjs/common';
import type { AuthErrorCode } from '../base/errors';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { Endpoint } from './endpoints';
import { type MountCondition, MOUNTED_IF } from './platform';
import type { Model, Schema } from './property';
import { OpenedSessionResponse, TokenPairResponse } from './responses';

/** The description of an endpoint in the OpenAPI document. */
export interface Description {
  /** The operation id, which generated clients use as the method name. */
  readonly id: string;
  readonly summary: string;
  readonly params?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Model;
  /** The body of a response with the status 200: a model, a list of models, or the `detail` of a `DetailResponse`. */
  readonly returns: Model | readonly [Model] | string;
  /** Errors of this endpoint, in addition to those that `responsesOf` adds. */
  readonly errors?: readonly AuthErrorCode[];
}

export const DESCRIPTION = 'nestjs-session-auth:description';

/**
 * Declares an endpoint with its description, the status 200 and `Cache-Control: no-store`. Works without
 * `@nestjs/swagger`. `LibraryRouteFilter` sets the same header on error responses. (OAuth 2.1, token
 * response; ASVS 14.3.2)
 */
export const AuthEndpoint = (description: Description): MethodDecorator =>
  applyDecorators(SetMetadata(DESCRIPTION, description), HttpCode(200), Header('Cache-Control', 'no-store'));

/** Mounts a controller of the library only if the condition is true. */
export const MountedIf = (condition: MountCondition): CustomDecorator<string> => SetMetadata(MOUNTED_IF, condition);

/** The value of the option `cookies.mode`, on which the OpenAPI document depends. */
export type DescribedMode = ResolvedAuthOptions['cookies']['mode'];

/** The header with which a client requests cookies, in the form of an argument of `@ApiHeader()`. */
export const TRANSPORT_HEADER = {
  name: 'X-Auth-Transport',
  description:
    'Send `cookie` to get the tokens in cookies instead of the body. A refresh then reads ' +
    'the refresh cookie instead of the body, and a logout removes the cookies.',
  required: false,
  schema: { type: 'string', enum: ['cookie'] },
};

/** Returns whether the endpoint returns tokens, in the body or in cookies. */
export function returnsTokens({ returns }: Endpoint): boolean {
  return returns === TokenPairResponse || returns === OpenedSessionResponse;
}

/** Returns whether the endpoint reads the header `X-Auth-Transport`, because it sets or clears cookies. */
export function readsTransportHeader(endpoint: Endpoint): boolean {
  return returnsTokens(endpoint) || endpoint.id === 'authLogout' || endpoint.id === 'authLogoutAll';
}

/** Returns whether cookies can replace the required body. A refresh with cookies needs no body. */
export function needsNoBody({ id }: Endpoint, mode: DescribedMode): boolean {
  return mode !== false && id === 'authRefresh';
}

/** Returns the errors that an endpoint has only in cookie mode. */
export function cookieErrors({ id, method }: Endpoint, mode: DescribedMode): readonly AuthErrorCode[] {
  if (mode === false || method === 'GET') return [];
  return id === 'authRefresh' ? ['cross_site_request', 'credentials_ambiguous'] : ['cross_site_request'];
}

/**
 * Returns the schema of a response with the status 200 in the given cookie mode: the given body, a body
 * without tokens, or either of these two.
 */
export function withCookieBody(endpoint: Endpoint, mode: DescribedMode, body: Schema, sessionId: Schema): Schema {
  if (mode === false || !returnsTokens(endpoint)) return body;
  const isLogin = endpoint.returns === OpenedSessionResponse;
  const withoutTokens = {
    type: 'object',
    description: 'The tokens are in cookies.',
    ...(isLogin ? { properties: { session_id: sessionId }, required: ['session_id'] } : {}),
    additionalProperties: false,
  };
  return mode === 'only' ? withoutTokens : { oneOf: [body, withoutTokens] };
}
