import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../base/clock';
import { AuthError, credentialsMissing, invalidAccessToken, invalidRefreshToken } from '../../base/errors';
import type { Client } from '../../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { Authenticate, type AuthPrincipal, MAX_TOKENS, withTokenInCookie } from '../../sessions/authenticate';
import { Refresh } from '../../sessions/refresh';
import type { OpenedSession, TokenPair } from '../../tokens/tokens';
import {
  type AuthRequest,
  type AuthResponse,
  clientInfoOf,
  type CookieRequest,
  hasTokenOutsideCookies,
  sentHeader,
  type SentHeaders,
} from '../request';
import { CrossSiteCheck } from './cross-site-check';

/** The part of the package `cookie` that this file uses. Version 0.7 contains no types. */
interface CookiePackage {
  readonly parse: (text: string, options: { readonly decode: (value: string) => string }) => Record<string, string>;
  readonly serialize: (name: string, value: string, attributes: Readonly<Record<string, unknown>>) => string;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- see `CookiePackage`
const { parse, serialize } = require('cookie') as CookiePackage;

/** Disables decoding, because a text that equals a token only after decoding is no token. */
const AS_SENT = { decode: (value: string): string => value };

function parsedCookies(header: string) {
  // Each pair is parsed separately, because the parser keeps only the first of several cookies with the same name.
  const pairs = header.split(';').filter((pair) => pair.includes('='));
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs.flatMap((pair) => Object.entries(parse(pair, AS_SENT)))) {
    const others = values.get(name);
    if (others) others.push(value);
    else values.set(name, [value]);
  }
  return { header, decoded: null as string | null, values };
}

const PARSED = new WeakMap<object, ReturnType<typeof parsedCookies>>();

/** Parses the header once for all GraphQL fields of a request and all messages of a socket, which may be thousands. */
function cookiesOf(request: SentHeaders): ReturnType<typeof parsedCookies> {
  const header = String(sentHeader(request, 'cookie') ?? '');
  const known = PARSED.get(request);
  if (known?.header === header) return known;
  PARSED.set(request, parsedCookies(header));
  return PARSED.get(request)!;
}

/** Returns whether a cookie, also of the application, contains the token, in any form that cookie parsers decode. */
export function occursInCookies(request: SentHeaders, token: string): boolean {
  const cookies = cookiesOf(request);
  // Unlike `decodeURIComponent`, this accepts any text. Middleware may have decrypted `headers.cookie`.
  cookies.decoded ??= cookies.header.replace(/%[0-9a-f]{2}/gi, (c) => String.fromCharCode(parseInt(c.slice(1), 16)));
  return [cookies.header, cookies.decoded, String(request.headers['cookie'])].some((text) => text.includes(token));
}

/** Returns whether the header `X-Auth-Transport` asks for cookies. Node.js joins repeated headers with commas. */
function asksForCookies({ headers }: SentHeaders): boolean {
  return /(?:^|,)\s*cookie\s*(?:,|$)/i.test(String(headers['x-auth-transport']));
}

/** The safe methods except TRACE. Safe methods only read. (RFC 9110, section 9.2.1) */
const SAFE_METHODS: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];

/** The requests that a cookie authenticates. */
const BY_COOKIE = new WeakSet<object>();

/**
 * Reads, sets and clears the cookies of a session by the rules of the option `cookies`. Reads none if the option is
 * off. Each method that makes the cross-site check throws the `AuthError` `cross_site_request`.
 */
@Injectable()
export class CookieRules {
  readonly mode: ResolvedAuthOptions['cookies']['mode'];
  private readonly isSecure: boolean;
  private readonly accessName: string;
  private readonly refreshName: string;

  constructor(
    @Inject(AUTH_OPTIONS) { cookies }: Pick<ResolvedAuthOptions, 'cookies'>,
    private readonly check: CrossSiteCheck,
    private readonly authentication: Authenticate,
    private readonly refreshing: Refresh,
    private readonly clock: Clock,
  ) {
    this.mode = cookies.mode;
    this.isSecure = cookies.secure;
    // With this prefix, no other subdomain can set the cookies.
    const prefix = cookies.secure ? '__Host-' : '';
    this.accessName = `${prefix}${cookies.name}_access`;
    this.refreshName = `${prefix}${cookies.name}_refresh`;
  }

  /**
   * Returns the access token in the cookies, or null, after the cross-site check.
   * @throws AuthError `credentials_ambiguous`
   */
  accessToken(request: CookieRequest, isUnsafe: boolean): string | null {
    const token = this.onlyValue(request, this.accessName);
    if (token !== null) this.acceptCookie(request, isUnsafe);
    return token;
  }

  allTokens(request: SentHeaders): { readonly access: readonly string[]; readonly refresh: readonly string[] } {
    const valuesOf = (name: string): string[] => this.values(request, name).filter((value) => value !== '');
    return { access: valuesOf(this.accessName), refresh: valuesOf(this.refreshName) };
  }

  /**
   * Makes the cross-site check for a request that a cookie authenticates, and marks the request as such.
   * @param isUnsafe whether the request is checked with every method, as handshakes and GraphQL mutations are
   */
  acceptCookie(request: CookieRequest, isUnsafe: boolean): void {
    // Any page can open a WebSocket, so each is checked.
    const isSafe = SAFE_METHODS.includes(request.method) && request.headers['upgrade'] === undefined;
    if (isUnsafe || !isSafe) this.check.assert(request);
    BY_COOKIE.add(request);
  }

  /** Returns whether the response contains tokens in cookies instead of the body. If so, makes the cross-site check. */
  areSetFor(request: CookieRequest): boolean {
    const inCookies = this.areUsedBy(request);
    if (inCookies) this.check.assert(request);
    return inCookies;
  }

  /** Makes the cross-site check for a logout with `X-Auth-Transport: cookie`. One with a bearer token needs no check. */
  assertMayClear(request: CookieRequest): void {
    if (this.mode && asksForCookies(request)) this.check.assert(request);
  }

  /** Removes the cookies if the response uses cookies and the cross-site check allows the request. */
  clearIfAllowed(request: CookieRequest, response: AuthResponse): void {
    // The bearer token may be that of an administrator who acts as a user. The cookies are the administrator's own.
    if (hasTokenOutsideCookies(request) && !asksForCookies(request)) return;
    if (this.areUsedBy(request) && this.check.allows(request)) this.clear(response);
  }

  clear(response: AuthResponse): void {
    this.replaceCookies(response, [this.cookie(this.accessName, '', 0), this.cookie(this.refreshName, '', 0)]);
  }

  /** Sets the cookies of a pair, which expire with their tokens or with the browser. Returns the body of the response. */
  set(response: AuthResponse, pair: TokenPair | OpenedSession): object {
    const secondsUntil = (end: Date): number | undefined =>
      pair.persistent ? Math.max(0, Math.ceil((end.getTime() - this.clock.now()) / 1000)) : undefined;
    this.replaceCookies(response, [
      this.cookie(this.accessName, pair.accessToken, secondsUntil(pair.accessTokenExpiresAt)),
      this.cookie(this.refreshName, pair.refreshToken, secondsUntil(pair.refreshTokenExpiresAt)),
    ]);
    return 'sessionId' in pair ? { session_id: pair.sessionId } : {};
  }

  /**
   * Refreshes with the tokens in the cookies, and sets the cookies of the new pair. If the refresh is refused, clears the
   * cookies, unless a refresh token names an active session, because another browser tab has replaced the cookies.
   * @throws AuthError `credentials_ambiguous`; `invalid_refresh_token` if the cookie is missing or refused
   */
  async refresh(request: CookieRequest, response: AuthResponse, client: Client): Promise<TokenPair> {
    try {
      const refreshToken = this.onlyValue(request, this.refreshName);
      if (refreshToken === null) throw invalidRefreshToken();
      const accessToken = this.onlyValue(request, this.accessName);
      const pair = await this.refreshing.refresh(refreshToken, client, 'cookie', accessToken);
      this.set(response, pair);
      return pair;
    } catch (error) {
      const isRefusal = error instanceof AuthError && error.getStatus() === 400;
      const { refresh } = this.allTokens(request);
      if (isRefusal && !(await this.authentication.namesActiveSession(refresh))) this.clear(response);
      throw error;
    }
  }

  /**
   * Returns the principal of a logout with cookies: of the first valid access token, or of the first refresh token of the
   * live family of an active session, used or not. Tries at most 10 tokens of each kind.
   * @throws AuthError `credentials_missing` or `access_token_invalid`
   */
  async principalOfLogout(request: AuthRequest, realm: string | null): Promise<AuthPrincipal> {
    const { access, refresh } = this.allTokens(request);
    if (access.length + refresh.length === 0) throw credentialsMissing();
    this.acceptCookie(request, true);
    const client = withTokenInCookie({ ...clientInfoOf(request), realm });
    for (const token of access.slice(0, MAX_TOKENS)) {
      const found = await this.authentication.authenticate(token, client);
      if (found) return found;
    }
    const principal = await this.authentication.byRefreshTokens(refresh, client);
    if (principal) return principal;
    throw access.length === 0 ? credentialsMissing() : invalidAccessToken();
  }

  private areUsedBy(request: CookieRequest): boolean {
    return this.mode === 'only' || (this.mode === 'optional' && (asksForCookies(request) || BY_COOKIE.has(request)));
  }

  /**
   * Returns the value of a cookie, or null if it is missing or empty.
   * @throws AuthError `credentials_ambiguous` if several cookies have this name, because another host may have set one
   */
  private onlyValue(request: SentHeaders, name: string): string | null {
    const values = this.values(request, name);
    if (values.length > 1) throw new AuthError('credentials_ambiguous', `More than one cookie ${name} was sent.`);
    return values[0] || null;
  }

  /** Returns all values of a cookie. Names are case-sensitive, because not every browser protects the prefix `__host-`. */
  private values(request: SentHeaders, name: string): string[] {
    const values = this.mode === false ? [] : (cookiesOf(request).values.get(name) ?? []);
    return values.length > 0 && this.check.mayUseCookies(request) ? values : [];
  }

  private cookie(name: string, value: string, maxAge: number | undefined): string {
    return serialize(name, value, { maxAge, path: '/', httpOnly: true, secure: this.isSecure, sameSite: 'lax' });
  }

  /** Replaces the library's cookies of the response, and keeps those of the application. */
  private replaceCookies(response: AuthResponse, cookies: readonly string[]): void {
    const names = [this.accessName, this.refreshName];
    const set = [response.raw, response].flatMap((one) => one?.getHeader('set-cookie') ?? []).map(String);
    const kept = set.filter((cookie) => !names.includes(cookie.split('=', 1)[0]!));
    // `header()` adds to `Set-Cookie` on Fastify but replaces it on Express.
    response.removeHeader('set-cookie');
    response.header('set-cookie', [...new Set(kept), ...cookies]);
  }
}

/** Matches the directives that let shared caches store a response, and empty ones. (RFC 9111, section 5.2.2) */
const SHARED = /^(?:public|s-maxage\b.*|must-understand|)$/i;

/** Adds `private` to `Cache-Control`, unless it has `private`, or `no-store`, which `must-understand` can override. */
export function excludeSharedCaches(response: AuthResponse): void {
  const header = response.getHeader('cache-control') as string | string[] | undefined;
  const directives = String(header ?? '')
    .trim()
    .split(/\s*,\s*/);
  const has = (name: string): boolean => directives.some((directive) => directive.toLowerCase() === name);
  if (has('private') || (has('no-store') && !has('must-understand'))) return;
  const kept = directives.filter((directive) => !SHARED.test(directive));
  response.header('Cache-Control', [...kept, 'private'].join(', '));
}
