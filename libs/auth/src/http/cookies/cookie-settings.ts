import { serialize } from 'cookie';
import type { TokenPair } from '../../domain/tokens';
import type { ResolvedAuthOptions } from '../../options/auth-options';

/** The option `cookies` as it is used for requests. */
export interface CookieSettings {
  /** Whether tokens travel in cookies for every client, or for those that ask for it. */
  readonly isOnlyTransport: boolean;
  readonly accessName: string;
  readonly refreshName: string;
  readonly isSecure: boolean;
  readonly trustedOrigins: ReadonlySet<string>;
}

/** Returns the settings of cookie mode, or null where it is off. */
export function cookieSettings({ cookies }: Pick<ResolvedAuthOptions, 'cookies'>): CookieSettings | null {
  const { mode, name, secure, trustedOrigins } = cookies;
  if (mode === false) return null;
  // Browsers accept this prefix only from the host itself, over HTTPS: no sibling subdomain can set such a cookie.
  const prefix = secure ? '__Host-' : '';
  return {
    isOnlyTransport: mode === 'only',
    accessName: `${prefix}${name}_access`,
    refreshName: `${prefix}${name}_refresh`,
    isSecure: secure,
    trustedOrigins: new Set(trustedOrigins),
  };
}

/** Returns the `Set-Cookie` headers that give a pair to a browser, each for as long as its token lives. */
export function cookiesOf(settings: CookieSettings, pair: TokenPair, now: number): string[] {
  const secondsUntil = (end: Date): number => Math.max(0, Math.ceil((end.getTime() - now) / 1000));
  return [
    cookieOf(settings, settings.accessName, pair.accessToken, secondsUntil(pair.accessTokenExpiresAt)),
    cookieOf(settings, settings.refreshName, pair.refreshToken, secondsUntil(pair.refreshTokenExpiresAt)),
  ];
}

/** Returns the `Set-Cookie` headers that remove both cookies. */
export function expiredCookies(settings: CookieSettings): string[] {
  return [settings.accessName, settings.refreshName].map((name) => cookieOf(settings, name, '', 0));
}

function cookieOf({ isSecure }: CookieSettings, name: string, value: string, maxAge: number): string {
  return serialize(name, value, { maxAge, path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' });
}
