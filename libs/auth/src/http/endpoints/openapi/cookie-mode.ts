import type { AuthErrorCode } from '../../../domain/errors';
import type { ResolvedAuthOptions } from '../../../options/auth-options';
import type { Schema } from '../dto/property';
import { OpenedSessionResponse, TokenPairResponse } from '../dto/responses';
import type { Endpoint } from '../endpoints';

/** The option `cookies.mode`, by which the document differs. */
export type DescribedMode = ResolvedAuthOptions['cookies']['mode'];

/** The header that asks for cookies, as `@ApiHeader()` takes it. */
export const TRANSPORT_HEADER = {
  name: 'X-Auth-Transport',
  description: 'Answers with cookies, and with no tokens in the body.',
  required: false,
  schema: { type: 'string', enum: ['cookie'] },
};

/** Whether the endpoint returns tokens, which can be in cookies instead of the body. */
export function returnsTokens({ returns }: Endpoint): boolean {
  return returns === TokenPairResponse || returns === OpenedSessionResponse;
}

/** Whether the endpoint reads the header: those that set or clear cookies. */
export function readsTransportHeader(endpoint: Endpoint): boolean {
  return returnsTokens(endpoint) || endpoint.id === 'authLogout' || endpoint.id === 'authLogoutAll';
}

/** Whether the body is not needed: a refresh by cookies has none. */
export function needsNoBody({ id }: Endpoint, mode: DescribedMode): boolean {
  return mode !== false && id === 'authRefresh';
}

/** The errors that cookies add to an endpoint. */
export function cookieErrors({ id, method }: Endpoint, mode: DescribedMode): readonly AuthErrorCode[] {
  if (mode === false || method === 'GET') return [];
  return id === 'authRefresh' ? ['cross_site_request', 'credentials_ambiguous'] : ['cross_site_request'];
}

/** The schema of a 200 with tokens: in the body, in cookies, or either. */
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
