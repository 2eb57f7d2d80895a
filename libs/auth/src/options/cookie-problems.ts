import { isLocalhost } from '../domain/localhost';
import { wrongValue } from './problems';

const HTTPS_REQUIRED = 'an https:// origin (http:// is accepted only for localhost, with cookies.secure: false)';

/** The option `cookies` as the application wrote it. */
interface GivenCookies {
  readonly mode?: unknown;
  readonly trustedOrigins?: unknown;
  readonly secure?: unknown;
}

/** Returns the problems of the option `cookies` that the rules of the option table do not find. */
export function cookieProblems({ mode, trustedOrigins, secure }: GivenCookies): string[] {
  const missing = mode === undefined ? [wrongValue('cookies.mode', mode, "'optional' or 'only', or omit cookies")] : [];
  const origins: unknown[] = Array.isArray(trustedOrigins) ? trustedOrigins : [];
  return [
    ...missing,
    ...origins.flatMap((origin, index) => {
      const expected = typeof origin === 'string' ? expectedOrigin(origin, secure === false) : null;
      return expected === null ? [] : [wrongValue(`cookies.trustedOrigins[${index}]`, origin, expected)];
    }),
  ];
}

/**
 * Returns the expected value for the error message, or null if the origin is valid. A trusted origin must equal the
 * `Origin` header, in which browsers send the serialized form of an origin.
 */
function expectedOrigin(origin: string, isHttpAllowed: boolean): string | null {
  if (origin.includes('*')) return 'each origin in full, because wildcards are not supported';
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (!url || !['https:', 'http:'].includes(url.protocol)) return "an origin such as 'https://app.example.com'";
  if (url.protocol === 'http:' && !(isHttpAllowed && isLocalhost(url.hostname))) return HTTPS_REQUIRED;
  return url.origin === origin ? null : `'${url.origin}'`;
}
