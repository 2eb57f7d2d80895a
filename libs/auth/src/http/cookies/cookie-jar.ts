import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../base/clock';
import { AuthError } from '../../base/errors';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import type { TokenPair } from '../../tokens/tokens';
import type { AuthRequest, AuthResponse } from '../request';
import { CrossSiteCheck } from './cross-site-check';

/** The part of the package `cookie` that this file uses. Version 0.7 contains no types. */
interface CookiePackage {
  readonly parse: (text: string, options: { readonly decode: (value: string) => string }) => Record<string, string>;
  readonly serialize: (name: string, value: string, attributes: Readonly<Record<string, unknown>>) => string;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- see `CookiePackage`
const { parse, serialize } = require('cookie') as CookiePackage;

/** Disables decoding: tokens need no decoding, and a text that equals a token only after decoding is no token. */
const AS_SENT = { decode: (value: string): string => value };

/** A request or handshake from which cookies are read. */
type WithCookies = Pick<AuthRequest, 'headers'>;

/**
 * Returns all values of a cookie, in the order in which the client sent them. Node.js joins several `Cookie` headers,
 * including those of HTTP/2. Names are case-sensitive, because not every browser protects the prefix `__host-` like
 * `__Host-`.
 */
export function cookieValues({ headers }: WithCookies, name: string): string[] {
  const header = headers['cookie'];
  if (typeof header !== 'string' || !header.includes(name)) return [];
  // Each pair is parsed separately, because the parser keeps only the first of several cookies with the same name.
  return header.split(';').flatMap((pair) => parse(pair, AS_SENT)[name] ?? []);
}

/**
 * Returns the value of a cookie, or null if it is missing or empty.
 * @throws AuthError `credentials_ambiguous` if several cookies have this name, because another host may have set one
 */
export function onlyCookieValue(request: WithCookies, name: string): string | null {
  const [value = '', ...others] = cookieValues(request, name);
  if (others.length > 0) throw new AuthError('credentials_ambiguous', `More than one cookie ${name} was sent.`);
  return value === '' ? null : value;
}

/**
 * Returns whether a cookie of the request contains the token, in any form that cookie parsers decode. The cookie may
 * belong to the application.
 */
export function occursInCookies({ headers }: WithCookies, token: string): boolean {
  const header = headers['cookie'];
  if (typeof header !== 'string') return false;
  return (
    header.includes(token) || (header.includes('%') && header.split(';').some((pair) => decoded(pair).includes(token)))
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads the library's cookies in requests, and sets them in responses. Reads none if the option `cookies` is off. */
@Injectable()
export class CookieJar {
  private readonly accessName: string;
  private readonly refreshName: string;
  /** The mode of the option `cookies`. */
  readonly mode: ResolvedAuthOptions['cookies']['mode'];
  private readonly isSecure: boolean;

  constructor(
    @Inject(AUTH_OPTIONS) { cookies }: Pick<ResolvedAuthOptions, 'cookies'>,
    private readonly check: CrossSiteCheck,
    private readonly clock: Clock,
  ) {
    this.mode = cookies.mode;
    this.isSecure = cookies.secure;
    // Browsers accept cookies with this prefix only from the host itself and over HTTPS, so no sibling subdomain can
    // set them.
    const prefix = cookies.secure ? '__Host-' : '';
    this.accessName = `${prefix}${cookies.name}_access`;
    this.refreshName = `${prefix}${cookies.name}_refresh`;
  }

  /** Returns the access token in the cookies, or null. @throws AuthError `credentials_ambiguous` */
  accessToken(request: WithCookies): string | null {
    return this.reads(request) ? onlyCookieValue(request, this.accessName) : null;
  }

  /** Returns the refresh token in the cookies, or null. @throws AuthError `credentials_ambiguous` */
  refreshToken(request: WithCookies): string | null {
    return this.reads(request) ? onlyCookieValue(request, this.refreshName) : null;
  }

  /** Returns all access tokens and refresh tokens in the cookies. */
  allTokens(request: WithCookies): { readonly access: readonly string[]; readonly refresh: readonly string[] } {
    const valuesOf = (name: string): string[] =>
      this.reads(request) ? cookieValues(request, name).filter((value) => value !== '') : [];
    return { access: valuesOf(this.accessName), refresh: valuesOf(this.refreshName) };
  }

  /** Sets the access cookie and the refresh cookie of a token pair. Each cookie expires with its token. */
  set(response: AuthResponse, pair: TokenPair): void {
    const secondsUntil = (end: Date): number => Math.max(0, Math.ceil((end.getTime() - this.clock.now()) / 1000));
    this.replaceCookies(response, [
      this.cookie(this.accessName, pair.accessToken, secondsUntil(pair.accessTokenExpiresAt)),
      this.cookie(this.refreshName, pair.refreshToken, secondsUntil(pair.refreshTokenExpiresAt)),
    ]);
  }

  /** Removes the access cookie and the refresh cookie from the browser. */
  clear(response: AuthResponse): void {
    this.replaceCookies(response, [this.cookie(this.accessName, '', 0), this.cookie(this.refreshName, '', 0)]);
  }

  private reads(request: WithCookies): boolean {
    return this.mode !== false && this.check.mayUseCookies(request);
  }

  private cookie(name: string, value: string, maxAge: number): string {
    return serialize(name, value, { maxAge, path: '/', httpOnly: true, secure: this.isSecure, sameSite: 'lax' });
  }

  /** Adds the library's cookies to the response, in place of those already set. Keeps the application's cookies. */
  private replaceCookies(response: AuthResponse, cookies: readonly string[]): void {
    const isOfLibrary = (cookie: string): boolean =>
      cookie.startsWith(`${this.accessName}=`) || cookie.startsWith(`${this.refreshName}=`);
    const set = [response.raw, response].map((one) => one?.getHeader('set-cookie') ?? []);
    const present = [...new Set(set.flat().map(String))];
    // The header is removed first, because `header()` adds to `Set-Cookie` on Fastify but replaces it on Express.
    response.removeHeader('set-cookie');
    response.header('set-cookie', [...present.filter((cookie) => !isOfLibrary(cookie)), ...cookies]);
  }
}
