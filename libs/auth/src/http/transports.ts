import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import type { ClientInfo } from '../adapters/second-factor';
import { type PresentedToken, TokenSource, type TransportCall } from '../adapters/token-source';
import { Clock, OncePerMinute } from '../base/clock';
import { AuthError, credentialsMissing, invalidAccessToken } from '../base/errors';
import { withTokenInCookie } from '../sessions/authenticate';
import { isToken } from '../tokens/tokens';
import { CookieRules, occursInCookies } from './cookies/cookie-rules';
import {
  assertSingleAuthorization,
  type AuthRequest,
  type AuthResponse,
  bearerToken,
  BY_SOURCE,
  clientInfoOf,
  hasBearerHeader,
} from './request';

/** The HTTP request that opened a WebSocket. */
export type Handshake = Pick<AuthRequest, 'headers' | 'rawHeaders' | 'ip'>;

interface SocketIoClient {
  readonly request?: Handshake;
  readonly handshake?: { readonly auth?: { readonly token?: unknown } };
}

const HANDSHAKES = new WeakMap<object, Handshake>();

/** Stores the handshake of a `ws` client. Call it in `handleConnection(client, request)`. */
export function rememberHandshake(client: object, request: Handshake): void {
  HANDSHAKES.set(client, request);
}

function handshakeOf(client: object): Handshake {
  return HANDSHAKES.get(client) ?? (client as SocketIoClient).request ?? { headers: {} };
}

/** The cookie rules by HTTP server, for `socketAccessToken`, which cannot inject them. */
const COOKIES_BY_SERVER = new WeakMap<object, CookieRules>();

/** Lets `socketAccessToken` read the cookies of handshakes with this server. */
export function readCookiesOfHandshakes(server: object, cookies: CookieRules): void {
  COOKIES_BY_SERVER.set(server, cookies);
}

/**
 * Returns the access token with which a socket was opened, and the client. Reads the `Authorization` header of the
 * handshake, with socket.io also `auth.token`, and in cookie mode also the cookie.
 * @throws AuthError `credentials_missing`; `credentials_ambiguous` if tokens were sent in two places;
 *   `cross_site_request`
 */
export function socketAccessToken(client: object): PresentedToken {
  const handshake = handshakeOf(client);
  const { server = {} } = (handshake as { readonly socket?: { readonly server?: object } }).socket ?? {};
  const found = tokenOfSocket(client, COOKIES_BY_SERVER.get(server) ?? null);
  if (!found) throw credentialsMissing();
  if (found.isCookie && isToken('api_key', found.accessToken)) throw invalidAccessToken();
  return { accessToken: found.accessToken, client: found.client };
}

export interface FoundToken extends Required<PresentedToken> {
  readonly isCookie: boolean;
  readonly isFromSource: boolean;
}

function foundToken(accessToken: string, client: ClientInfo, isCookie: boolean, isFromSource = false): FoundToken {
  return { accessToken, client: isCookie ? withTokenInCookie(client) : client, isCookie, isFromSource };
}

@Injectable()
export class AccessTokens {
  private readonly logger = new Logger('AuthTokens');
  private readonly logLimit: OncePerMinute;

  constructor(
    private readonly cookies: CookieRules,
    @Optional() @Inject(TokenSource) private readonly source: TokenSource | null,
    clock: Clock,
  ) {
    this.logLimit = new OncePerMinute(clock);
  }

  /**
   * Returns the token that the `TokenSource` finds, or the one in the usual places of the transport, or null.
   * @param readsCookies whether the cookies of an HTTP request are among them
   * @throws AuthError `access_token_invalid` if the `TokenSource` throws; `credentials_ambiguous`, `cross_site_request`
   * @throws Error if the GraphQL context contains the request of an earlier operation
   */
  async find(call: TransportCall, readsCookies: boolean): Promise<FoundToken | null> {
    assertCurrentRequest(call);
    const found = this.source && (await this.fromSource(this.source, call));
    if (found) return found;
    if (call.getType() === 'ws') return tokenOfSocket(call.getArgByIndex(0), this.cookies);
    const request = requestOf(call);
    return request ? tokenOfRequest(request, readsCookies ? this.cookies : null, isMutation(call)) : null;
  }

  private async fromSource(source: TokenSource, call: TransportCall): Promise<FoundToken | null> {
    const found = await this.ask(source, call);
    if (!found) return null;
    // The source may pass on what a client has sent in place of a text.
    if (typeof found.accessToken !== 'string') throw invalidAccessToken();
    const isSocket = call.getType() === 'ws';
    const request = isSocket ? handshakeOf(call.getArgByIndex(0)) : requestOf(call);
    if (request) assertSingleAuthorization(request);
    const isCookie = request !== undefined && occursInCookies(request, found.accessToken);
    if (isCookie) this.cookies.acceptCookie(request, isSocket || isMutation(call));
    else if (request) BY_SOURCE.add(request);
    const client = found.client ?? (request ? clientInfoOf(request) : {});
    return foundToken(found.accessToken, client, isCookie, true);
  }

  private async ask(source: TokenSource, call: TransportCall): Promise<PresentedToken | null> {
    try {
      return await source.find(call);
    } catch (error) {
      const problem = 'The token source failed, so the response is 401';
      if (!(error instanceof AuthError)) this.logLimit.logError(this.logger, problem, error);
      throw invalidAccessToken();
    }
  }
}

/** Nest's drivers keep the first request in a context object that the application returns for several requests. */
function assertCurrentRequest(call: TransportCall): void {
  const response = call.getType<string>() === 'graphql' ? responseOf(call) : undefined;
  if (!(response?.raw ?? response)?.writableEnded) return;
  throw new Error('The GraphQL context contains an earlier request. Return a new context object for each request.');
}

/** GraphQL servers may execute mutations of requests with methods that count as safe, such as HEAD. */
function isMutation(call: TransportCall): boolean {
  const info = call.getType<string>() === 'graphql' ? call.getArgByIndex<GraphQLInfo | undefined>(3) : undefined;
  return info?.operation.operation === 'mutation';
}

function tokenOfRequest(request: Handshake, cookies: CookieRules | null, isUnsafe: boolean): FoundToken | null {
  const isCookie = Boolean(cookies?.mode) && !hasBearerHeader(request);
  const accessToken = isCookie ? cookies!.accessToken(request, isUnsafe) : bearerToken(request);
  if (accessToken === null) return null;
  return foundToken(accessToken, clientInfoOf(request), isCookie);
}

function tokenOfSocket(client: object, cookies: CookieRules | null): FoundToken | null {
  const request = handshakeOf(client);
  const { token } = (client as SocketIoClient).handshake?.auth ?? {};
  if (typeof token !== 'string' || token === '') return tokenOfRequest(request, cookies, true);
  if (cookies?.mode ? hasBearerHeader(request) : request.headers['authorization'] !== undefined) {
    const problem = 'A token was sent both in the `Authorization` header and in `auth.token`. Send only one.';
    throw new AuthError('credentials_ambiguous', problem);
  }
  return foundToken(token, clientInfoOf(request), false);
}

interface WebSocketLike extends EventEmitter {
  readonly readyState: number;
  readonly OPEN: number;
  close(code: number, reason: string): void;
}

/** The connection of `graphql-ws`. */
interface GraphQLConnection {
  readonly extra?: { readonly request?: AuthRequest; readonly socket?: WebSocketLike };
}

/** What may contain the request or response. Apollo's `req` may be a connection. */
interface GraphQLContext extends GraphQLConnection {
  readonly req?: AuthRequest & GraphQLConnection & { readonly res?: AuthResponse };
  readonly res?: AuthResponse;
  readonly request?: AuthRequest;
  readonly reply?: AuthResponse & { readonly request?: AuthRequest };
}

function graphqlContext(call: TransportCall): GraphQLContext {
  return (call.getType<string>() === 'graphql' && call.getArgByIndex<GraphQLContext | undefined>(2)) || {};
}

/** Returns the WebSocket of a GraphQL operation over `graphql-ws`. */
export function graphqlSocketOf(call: TransportCall): WebSocketLike | undefined {
  const { extra, req } = graphqlContext(call);
  return (extra ?? req?.extra)?.socket;
}

/** Returns the HTTP request of a call over HTTP or GraphQL. Returns undefined if there is none. */
export function requestOf(call: TransportCall): AuthRequest | undefined {
  if (call.getType() === 'http') return call.getArgByIndex<AuthRequest>(0);
  const { req, request, reply, extra } = graphqlContext(call);
  // Mercurius sets `reply` for each request, but `req` may be from an earlier one: see `assertCurrentRequest`.
  const candidates = [reply?.request, req, request, (extra ?? req?.extra)?.request];
  return candidates.find((one) => typeof one?.headers === 'object' && one.headers !== null);
}

/** Returns the HTTP response of a call over HTTP or GraphQL. Returns undefined if there is none. */
export function responseOf(call: TransportCall): AuthResponse | undefined {
  if (call.getType() === 'http') return call.getArgByIndex<AuthResponse>(1);
  const { res, reply, req } = graphqlContext(call);
  return [res, reply, req?.res].find((one) => typeof one?.getHeader === 'function' && 'header' in one);
}

/** The parts of `GraphQLResolveInfo` that the library uses. `variableValues` is a new object in each execution. */
export interface GraphQLInfo {
  readonly operation: { readonly operation: string };
  readonly variableValues: object;
}
