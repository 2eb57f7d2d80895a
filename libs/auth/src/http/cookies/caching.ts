import type { AuthResponse } from '../platform/request';

/** Matches the directives that `excludeSharedCaches` removes. (RFC 9111, section 5.2.2) */
const SHARED = /^(?:public|s-maxage\b.*|must-understand)$/i;

/**
 * Adds `private` to `Cache-Control`, and removes the directives that `SHARED` matches, so that no shared cache stores
 * the response. Has no effect if the response already has `private`, or has `no-store` without `must-understand`.
 */
export function excludeSharedCaches(response: AuthResponse): void {
  const directives = directivesOf(response);
  if (has(directives, 'private') || isNeverStored(directives)) return;
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
  if (!isNeverStored(directivesOf(response))) response.header('Cache-Control', 'no-store');
}

/** Returns whether no cache stores the response. `must-understand` can override `no-store`. (RFC 9111, 5.2.2.3) */
function isNeverStored(directives: readonly string[]): boolean {
  return has(directives, 'no-store') && !has(directives, 'must-understand');
}

function has(directives: readonly string[], name: string): boolean {
  return directives.some((directive) => directive.toLowerCase() === name);
}

function directivesOf(response: AuthResponse): string[] {
  const directives = [response.getHeader('cache-control') ?? []].flat().map(String).join().split(',');
  return directives.map((directive) => directive.trim()).filter((directive) => directive !== '');
}
