import { serialize } from 'cookie';
import type { TokenPair } from '../../domain/tokens';
import type { ResolvedAuthOptions } from '../../options/auth-options';

/** The settings of cookie mode, derived from the option `cookies`. */
export interface CookieSettings {
  /**
   * Whether every client receives tokens in cookies, instead of only clients that send
   * `X-Auth-Transport: cookie` or authenticate with a cookie.
   */
  readonly isOnlyTransport: boolean;
  readonly accessName: string;
  readonly refreshName: string;
  readonly isSecure: boolean;
  readonly trustedOrigins: ReadonlySet<string>;
}

/** Returns the settings of cookie mode, or null if cookie mode is off. */
export function cookieSettings({ cookies }: Pick<ResolvedAuthOptions, 'cookies'>): CookieSettings | null {
  const { mode, name, secure, trustedOrigins } = cookies;
  if (mode === false) return null;
  // Browsers accept cookies with this prefix only from the host itself and over HTTPS, so no sibling subdomain can set
  // them.
  const prefix = secure ? '__Host-' : '';
  return {
    isOnlyTransport: mode === 'only',
    accessName: `${prefix}${name}_access`,
    refreshName: `${prefix}${name}_refresh`,
    isSecure: secure,
    trustedOrigins: new Set(trustedOrigins),
  };
}

/** Returns the `Set-Cookie` headers of a token pair. Each cookie expires with its token. */
export function cookiesOf(settings: CookieSettings, pair: TokenPair, now: number): string[] {
  const secondsUntil = (end: Date): number => Math.max(0, Math.ceil((end.getTime() - now) / 1000));
  return [
    cookieOf(settings, settings.accessName, pair.accessToken, secondsUntil(pair.accessTokenExpiresAt)),
    cookieOf(settings, settings.refreshName, pair.refreshToken, secondsUntil(pair.refreshTokenExpiresAt)),
  ];
}

/** Returns the `Set-Cookie` headers that remove the access cookie and the refresh cookie. */
export function expiredCookies(settings: CookieSettings): string[] {
  return [settings.accessName, settings.refreshName].map((name) => cookieOf(settings, name, '', 0));
}

function cookieOf({ isSecure }: CookieSettings, name: string, value: string, maxAge: number): string {
  return serialize(name, value, { maxAge, path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' });
}
