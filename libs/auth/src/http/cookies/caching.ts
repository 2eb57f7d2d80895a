import type { AuthResponse } from '../platform/request';

/** Matches the directives that allow shared caches to store a response. (RFC 9111, section 5.2.2) */
const SHARED = /^(?:public|s-maxage\b.*|must-understand)$/i;

/**
 * Sets `Cache-Control: private`, so that only browsers cache the response. Has no effect if the response already has
 * `private` or `no-store`.
 */
export function excludeSharedCaches(response: AuthResponse): void {
  const directives = directivesOf(response);
  if (directives.some((directive) => /^(?:private|no-store)$/i.test(directive))) return;
  response.header(
    'Cache-Control',
    [...directives.filter((directive) => !SHARED.test(directive)), 'private'].join(', '),
  );
}

/**
 * Sets `Cache-Control: no-store` on a response with tokens, so that no cache stores the tokens. (OWASP Session
 * Management Cheat Sheet)
 */
export function excludeCaches(response: AuthResponse): void {
  if (!directivesOf(response).some((directive) => /^no-store$/i.test(directive)))
    response.header('Cache-Control', 'no-store');
}

function directivesOf(response: AuthResponse): string[] {
  const directives = [response.getHeader('cache-control') ?? []].flat().map(String).join().split(',');
  return directives.map((directive) => directive.trim()).filter((directive) => directive !== '');
}
