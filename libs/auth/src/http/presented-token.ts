import { AuthError } from '../domain/errors';
import type { PresentedToken, TransportCall } from '../domain/ports/token-source';
import { tokenInHeader } from './authorization-header';
import { tokenOfSocket } from './handshake';
import { clientOf, type AuthRequest } from './request';

/** The places where drivers and hosts put the request into the context of GraphQL; the last one is that of `graphql-ws`. */
interface GraphQLContext {
  readonly req?: AuthRequest;
  readonly request?: AuthRequest;
  readonly reply?: { readonly request?: AuthRequest };
  readonly extra?: { readonly request?: AuthRequest };
}

/**
 * The token of a call that came otherwise than as an HTTP request, from the usual place of its transport.
 * @throws AuthError `credentials_missing`, also for every transport that has no such place; `credentials_ambiguous`
 */
export function presentedToken(call: TransportCall): PresentedToken {
  const type = call.getType<string>();
  if (type === 'ws') return tokenOfSocket(call.getArgByIndex<object>(0));
  const request = type === 'graphql' ? requestOf(call.getArgByIndex<GraphQLContext | undefined>(2)) : undefined;
  if (request) return { accessToken: tokenInHeader(request), client: clientOf(request) };
  throw new AuthError('credentials_missing', 'Authentication credentials were not provided.');
}

function requestOf(context: GraphQLContext | undefined): AuthRequest | undefined {
  const places = [context?.req, context?.request, context?.reply?.request, context?.extra?.request];
  return places.find((request) => typeof request?.headers === 'object' && request.headers !== null);
}
