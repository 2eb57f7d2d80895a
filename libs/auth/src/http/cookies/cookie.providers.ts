import type { Provider } from '@nestjs/common';
import { AuthService } from '../../auth.service';
import { Clock } from '../../base/clock';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { CookieSessions } from '../../sessions/cookie-sessions';
import { AuthCookies } from './auth-cookies';
import { cookieSettings, CookieTransport } from './cookie-jar';
import { CookieAuthentication, CookieRefresh, TokenDelivery } from './cookie-mode';

/** A part of cookie mode, or null if cookie mode is off. */
type Part<T> = T | null;

/** The providers of cookie mode. Without the option `cookies`, all but `TokenDelivery` and `AuthCookies` are null. */
export const COOKIE_PROVIDERS: Provider[] = [
  {
    provide: CookieTransport,
    useFactory: (options: ResolvedAuthOptions, clock: Clock): Part<CookieTransport> => {
      const settings = cookieSettings(options);
      return settings && new CookieTransport(settings, clock);
    },
    inject: [AUTH_OPTIONS, Clock],
  },
  {
    provide: CookieAuthentication,
    useFactory: (cookies: Part<CookieTransport>, auth: AuthService, sessions: CookieSessions) =>
      cookies && new CookieAuthentication(cookies, auth, sessions),
    inject: [CookieTransport, AuthService, CookieSessions],
  },
  {
    provide: CookieRefresh,
    useFactory: (cookies: Part<CookieTransport>, sessions: CookieSessions) =>
      cookies && new CookieRefresh(cookies, sessions),
    inject: [CookieTransport, CookieSessions],
  },
  {
    provide: TokenDelivery,
    useFactory: (cookies: Part<CookieTransport>, refreshing: Part<CookieRefresh>) =>
      new TokenDelivery(cookies && refreshing && { cookies, refreshing }),
    inject: [CookieTransport, CookieRefresh],
  },
  {
    provide: AuthCookies,
    useFactory: (
      sessions: CookieSessions,
      authentication: Part<CookieAuthentication>,
      refreshing: Part<CookieRefresh>,
    ) => new AuthCookies(sessions, authentication && refreshing && { authentication, refreshing }),
    inject: [CookieSessions, CookieAuthentication, CookieRefresh],
  },
];
