import { isLocalhost } from '../domain/localhost';
import { wrongValue } from './problems';

const LOCALHOST_NEEDED = 'an https:// origin; http:// is for localhost alone, with cookies.secure: false';

/** The option `cookies` as the application wrote it. */
interface GivenCookies {
  readonly mode?: unknown;
  readonly trustedOrigins?: unknown;
  readonly secure?: unknown;
}

/** The problems of the option `cookies` that the rules of its rows do not find. */
export function cookieProblems({ mode, trustedOrigins, secure }: GivenCookies): string[] {
  const missing =
    mode === undefined ? [wrongValue('cookies.mode', mode, "'optional' or 'only', or leave cookies out")] : [];
  const origins: unknown[] = Array.isArray(trustedOrigins) ? trustedOrigins : [];
  return [
    ...missing,
    ...origins.flatMap((origin, index) => {
      const write = typeof origin === 'string' ? betterOrigin(origin, secure === false) : null;
      return write === null ? [] : [wrongValue(`cookies.trustedOrigins[${index}]`, origin, write)];
    }),
  ];
}

/** What to write instead of this origin; null where it is right. Browsers send it in exactly the serialised form. */
function betterOrigin(origin: string, mayBePlain: boolean): string | null {
  if (origin.includes('*')) return 'each origin in full: there are no wildcards';
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (!url || !['https:', 'http:'].includes(url.protocol)) return "an origin such as 'https://app.example.com'";
  if (url.protocol === 'http:' && !(mayBePlain && isLocalhost(url.hostname))) return LOCALHOST_NEEDED;
  return url.origin === origin ? null : `'${url.origin}'`;
}
