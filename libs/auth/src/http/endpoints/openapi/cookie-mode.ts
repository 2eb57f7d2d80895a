import type { AuthErrorCode } from '../../../domain/errors';
import type { ResolvedAuthOptions } from '../../../options/auth-options';
import type { Schema } from '../dto/property';
import { OpenedSessionResponse, TokenPairResponse } from '../dto/responses';
import type { Endpoint } from '../endpoints';

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
