import { Inject, Injectable, Logger } from '@nestjs/common';
import { AuthError, standardError } from '../../base/errors';
import { isExtension, isLocalhost } from '../../base/fields';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { type CookieRequest, type SentHeaders, sentHeader } from '../request';

/**
 * Decides whether a request may set cookies or be authenticated by them. Browsers set `Origin` and `Sec-Fetch-Site`,
 * and scripts cannot change these headers. (Fetch Metadata; OWASP CSRF Prevention Cheat Sheet)
 */
@Injectable()
export class CrossSiteCheck {
  private hasWarned = false;

  constructor(@Inject(AUTH_OPTIONS) private readonly options: Pick<ResolvedAuthOptions, 'cookies'>) {}

  /** Returns whether cookies are read and set for the host. Cookies without `Secure` are only allowed for localhost. */
  mayUseCookies(request: SentHeaders): boolean {
    return this.options.cookies.secure || isLocal(hostOf(request));
  }

  allows(request: CookieRequest): boolean {
    return this.isSameSite(request) && this.publicHostOf(request) === null;
  }

  /** @throws AuthError `cross_site_request` */
  assert(request: CookieRequest): void {
    const publicHost = this.publicHostOf(request);
    if (publicHost !== null) {
      this.warnOnce(publicHost);
      const problem = 'Cookies with `secure: false` are for localhost only. Use HTTPS, and leave `secure` out.';
      throw new AuthError('cross_site_request', problem);
    }
    if (!this.isSameSite(request)) throw standardError('cross_site_request');
  }

  private isSameSite(request: CookieRequest): boolean {
    const { secure, trustedOrigins } = this.options.cookies;
    const [origin, site] = [sentHeader(request, 'origin'), sentHeader(request, 'sec-fetch-site')];
    if (typeof origin === 'string' && trustedOrigins.includes(origin)) return true;
    if (site !== undefined) return site === 'same-origin' || site === 'none';
    const schemes = secure ? ['https'] : ['https', 'http'];
    const host = hostOf(request);
    return host !== '' && schemes.some((scheme) => origin === `${scheme}://${host}`);
  }

  /**
   * Returns the host, other than localhost, for which cookies without `Secure` are refused, or null. Reads `Origin` too,
   * because a proxy may send another `Host` to the application.
   */
  private publicHostOf(request: CookieRequest): string | null {
    if (this.options.cookies.secure) return null;
    const origin = sentHeader(request, 'origin') ?? 'null';
    const page = origin === 'null' || isExtension(origin) ? [] : [String(origin).replace(/^https?:\/\//, '')];
    return [hostOf(request), ...page].find((host) => !isLocal(host)) ?? null;
  }

  private warnOnce(host: string): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    new Logger('AuthModule').warn(
      `Cookies were refused: the host or origin is "${host.slice(0, 100).replace(/\p{Cc}/gu, '')}", but \`cookies.secure\` is ` +
        'false, which works only on localhost. Serve other hosts over HTTPS without `secure: false`.',
    );
  }
}

const isLocal = (host: string): boolean => isLocalhost(host.toLowerCase().replace(/:\d+$/, ''));

/** Returns the host, or an empty string. An HTTP/2 request may contain it only in the pseudo-header `:authority`. */
function hostOf(request: SentHeaders): string {
  const host = sentHeader(request, 'host') ?? sentHeader(request, ':authority');
  return typeof host === 'string' ? host : '';
}
