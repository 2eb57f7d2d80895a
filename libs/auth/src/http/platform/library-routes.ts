import type { ModuleRef } from '@nestjs/core';
import { AuthError } from '../../domain/errors';
import type { Endpoint } from '../endpoints/endpoints';

/** The part of Nest's container that this file uses. */
interface Container {
  readonly applicationConfig?: { getGlobalPrefix(): string };
}

/** Returns whether a path belongs to one of the library's routes. */
export type RouteMatcher = (path: string) => boolean;

/**
 * Returns a function that matches the paths of endpoints under the global prefix and the mount path. Like
 * Express, the function ignores case and a trailing slash. The global prefix is read from Nest's container.
 */
export function libraryRoutes(
  moduleRef: ModuleRef,
  mountPath: string,
  endpoints: readonly Pick<Endpoint, 'path'>[],
): RouteMatcher {
  const { container } = moduleRef as unknown as { container?: Container };
  const globalPrefix = container?.applicationConfig?.getGlobalPrefix() ?? '';
  const segments = `${globalPrefix}/${mountPath}`.split('/').filter(Boolean);
  const prefix = segments.map((segment) => `/${segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`).join('');
  const routes = endpoints.map(({ path }) => path.replace(/:\w+/g, '[^/]+')).join('|');
  const route = new RegExp(`^${prefix}/(?:${routes})/?$`, 'i');
  return (path) => route.test(path);
}

/**
 * Returns the URL. If the percent-encoding of its path is malformed, encodes every `%` as `%25`, so
 * that the platform reads the path as plain text.
 */
export function withReadableEscapes(path: string, url: string = path): string {
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return url.replaceAll('%', '%25');
  }
}

/**
 * Returns the error for the HTTP status that a body parser reports, or null for an unknown status. Express
 * parsers use `http-errors`.
 */
export function bodyError(status: unknown): AuthError | null {
  if (status === 413) return new AuthError('body_too_large', 'The body is too large.');
  if (status === 415) return new AuthError('body_not_json', 'The body must be JSON in UTF-8.');
  if (status === 400) return new AuthError('body_malformed', 'The body is malformed, or is not valid JSON.');
  return null;
}
