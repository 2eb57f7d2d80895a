import { AuthError } from '../../base/errors';
import { isLocalhost } from '../../base/fields';
import { type AuthRequest, wasSent } from '../request';
import type { CookieSettings } from './cookie-jar';

type Headers = AuthRequest['headers'];

/** The parts of a request that show from which site the request comes. */
type SentRequest = Pick<AuthRequest, 'headers' | 'raw' | 'rawHeaders'>;

type SiteSettings = Pick<CookieSettings, 'isSecure' | 'trustedOrigins'>;

/**
 * Returns the error for a request that may not use cookies, or null if the request may use cookies. Browsers set
 * `Origin` and `Sec-Fetch-Site`, and scripts cannot change these headers. (Fetch Metadata; OWASP CSRF Prevention Cheat
 * Sheet)
 */
export function crossSiteRefusal(request: SentRequest, settings: SiteSettings): AuthError | null {
  if (!mayUseCookies(request.headers, settings)) return insecure();
  if (!isSameSite(request, settings)) return refusal('The request does not come from a trusted origin.');
  return publicHostOf(request.headers, settings) === null ? null : insecure();
}

/**
 * Returns whether cookies are read and set for the host of the request. Cookies without `Secure` are only
 * allowed for localhost.
 */
export function mayUseCookies(headers: Headers, { isSecure }: Pick<SiteSettings, 'isSecure'>): boolean {
  return isSecure || isLocal(hostOf(headers));
}

/**
 * Returns the host, other than localhost, for which cookies without `Secure` are refused, or null. The host in `Origin`
 * is checked as well, because a proxy may send another `Host` to the application, often `localhost`.
 */
export function publicHostOf(headers: Headers, { isSecure }: Pick<SiteSettings, 'isSecure'>): string | null {
  const { origin = 'null' } = headers;
  const page = origin === 'null' ? [] : [String(origin).replace(/^https?:\/\//, '')];
  return (isSecure ? [] : [hostOf(headers), ...page]).find((host) => !isLocal(host)) ?? null;
}

function isLocal(host: string): boolean {
  return isLocalhost(host.toLowerCase().replace(/:\d+$/, ''));
}

function isSameSite(request: SentRequest, { isSecure, trustedOrigins }: SiteSettings): boolean {
  const { headers } = request;
  const [origin, site] = ['origin', 'sec-fetch-site'].map((name) =>
    wasSent(request, name) ? headers[name] : undefined,
  );
  if (typeof origin === 'string' && trustedOrigins.has(origin)) return true;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const schemes = isSecure ? ['https'] : ['https', 'http'];
  const host = hostOf(headers);
  return host !== '' && schemes.some((scheme) => origin === `${scheme}://${host}`);
}

/**
 * Returns the host of the request, or an empty string. An HTTP/2 request may contain the host only in
 * the pseudo-header `:authority`.
 */
function hostOf(headers: Headers): string {
  const host = headers['host'] ?? headers[':authority'];
  return typeof host === 'string' ? host : '';
}

function insecure(): AuthError {
  return refusal('Cookies with `secure: false` are for localhost only. Use HTTPS, and leave `secure` out.');
}

function refusal(message: string): AuthError {
  return new AuthError('cross_site_request', message);
}
