import type { Request } from 'express';

/** The same origins as in the option `cookies.trustedOrigins`. */
const TRUSTED_ORIGINS: readonly string[] = [];

/** Returns whether a page of this application, or the user (for example with a bookmark), started the request. */
export function isFromOwnPage({ headers }: Request): boolean {
  if (headers.origin !== undefined && TRUSTED_ORIGINS.includes(headers.origin)) return true;
  return headers['sec-fetch-site'] === 'same-origin' || headers['sec-fetch-site'] === 'none';
}
