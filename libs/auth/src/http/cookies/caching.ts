import type { AuthResponse } from '../platform/request';

/** The directives that let shared caches store a response. (RFC 9111, section 5.2.2) */
const SHARED = /^(?:public|s-maxage\b.*|must-understand)$/i;

/** Has a response stored by caches of browsers alone, or as little as it is already. */
export function excludeSharedCaches(response: AuthResponse): void {
  const directives = directivesOf(response);
  if (directives.some((one) => /^(?:private|no-store)$/i.test(one))) return;
  response.header('Cache-Control', [...directives.filter((one) => !SHARED.test(one)), 'private'].join(', '));
}

/** Has a response with tokens stored by no cache: it would give them to whoever asks next. (OWASP Session Management Cheat Sheet) */
export function excludeCaches(response: AuthResponse): void {
  if (!directivesOf(response).some((one) => /^no-store$/i.test(one))) response.header('Cache-Control', 'no-store');
}

function directivesOf(response: AuthResponse): string[] {
  const directives = [response.getHeader('cache-control') ?? []].flat().map(String).join().split(',');
  return directives.map((one) => one.trim()).filter((one) => one !== '');
}
