import { AuthError } from '../domain/errors';

const BEARER = /^bearer(?:[ \t]+|$)/i;

/**
 * The token of an `Authorization: Bearer` header (RFC 6750, section 2.1). The scheme is read without regard to case.
 * @throws AuthError `credentials_missing` for no header, another scheme, or nothing after the scheme
 */
export function bearerToken(header: string | undefined): string {
  const token = header !== undefined && BEARER.test(header) ? header.replace(BEARER, '') : '';
  if (token === '') throw new AuthError('credentials_missing', 'Authentication credentials were not provided.');
  return token;
}
