import { parse } from 'cookie';
import { AuthError } from '../../domain/errors';
import type { AuthRequest } from '../platform/request';

/** Disables decoding: tokens need no decoding, and a text that equals a token only after decoding is no token. */
const AS_SENT = { decode: (value: string): string => value };

/**
 * Returns all values of a cookie, in the order in which the client sent them. Node.js joins several `Cookie` headers,
 * including those of HTTP/2. Names are case-sensitive, because not every browser protects the prefix `__host-` like
 * `__Host-`.
 */
export function cookieValues({ headers }: Pick<AuthRequest, 'headers'>, name: string): string[] {
  const header = headers['cookie'];
  if (typeof header !== 'string' || !header.includes(name)) return [];
  // Each pair is parsed separately, because the parser keeps only the first of several cookies with the same name.
  return header.split(';').flatMap((pair) => {
    const value = parse(pair, AS_SENT)[name];
    return value === undefined ? [] : [value];
  });
}

/**
 * Returns the value of a cookie, or null if it is missing or empty.
 * @throws AuthError `credentials_ambiguous` if several cookies have this name, because another host may
 * have set one of them
 */
export function onlyCookieValue(request: Pick<AuthRequest, 'headers'>, name: string): string | null {
  const [value = '', ...others] = cookieValues(request, name);
  if (others.length > 0) throw new AuthError('credentials_ambiguous', `More than one cookie ${name} was sent.`);
  return value === '' ? null : value;
}
