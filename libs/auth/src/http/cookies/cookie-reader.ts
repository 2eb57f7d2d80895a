import { parse } from 'cookie';
import { AuthError } from '../../domain/errors';
import type { AuthRequest } from '../platform/request';

/** Tokens need no decoding, and text that is decoded could be a token that was never issued. */
const AS_SENT = { decode: (value: string): string => value };

/**
 * Returns every value of a cookie, in the order sent. Node joins several `Cookie` headers, of HTTP/2 too.
 * Names are compared as they are: to browsers `__host-` is not always the prefix that protects.
 */
export function cookieValues({ headers }: Pick<AuthRequest, 'headers'>, name: string): string[] {
  const header = headers['cookie'];
  if (typeof header !== 'string' || !header.includes(name)) return [];
  // One pair at a time: the parser keeps only the first of several with one name.
  return header.split(';').flatMap((pair) => {
    const value = parse(pair, AS_SENT)[name];
    return value === undefined ? [] : [value];
  });
}

/**
 * Returns the value of a cookie, or null where it is missing or empty.
 * @throws AuthError `credentials_ambiguous` for several cookies of the name: another host may have set one of them
 */
export function onlyCookieValue(request: Pick<AuthRequest, 'headers'>, name: string): string | null {
  const [value = '', ...others] = cookieValues(request, name);
  if (others.length > 0) throw new AuthError('credentials_ambiguous', `More than one cookie ${name} was sent.`);
  return value === '' ? null : value;
}
