import { AuthError } from '../domain/errors';
import { headerLines, type AuthRequest } from './request';

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

/**
 * The token of a request, or of the handshake that a socket began with.
 * @throws AuthError `credentials_missing`, `credentials_ambiguous` for a repeated header
 */
export function tokenInHeader(request: Pick<AuthRequest, 'headers' | 'raw' | 'rawHeaders'>): string {
  if (headerLines(request, 'authorization') > 1) {
    throw new AuthError('credentials_ambiguous', 'More than one Authorization header was sent.');
  }
  const header = request.headers['authorization'];
  return bearerToken(typeof header === 'string' ? header : undefined);
}
