import type { ModuleRef } from '@nestjs/core';
import { AuthError } from '../../domain/errors';
import type { Endpoint } from '../endpoints/endpoints';

/** The part of Nest's container that is used here. */
interface Container {
  readonly applicationConfig?: { getGlobalPrefix(): string };
}

/** Whether a path belongs to the library. */
export type RouteMatcher = (path: string) => boolean;

/**
 * Returns a matcher of the routes of endpoints behind the global prefix and the mount path. Like
 * Express, it ignores case and a trailing slash. Only Nest's container has the global prefix.
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

/** Returns the URL with its `%` escaped if the path has a malformed escape: it is plain text then. */
export function withReadableEscapes(path: string, url: string = path): string {
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return url.replaceAll('%', '%25');
  }
}

/** Returns the error for the status that a body parser reports (http-errors), or null. */
export function bodyError(status: unknown): AuthError | null {
  if (status === 413) return new AuthError('body_too_large', 'The body is too large.');
  if (status === 415) return new AuthError('body_not_json', 'The body must be JSON in UTF-8.');
  if (status === 400) return new AuthError('body_malformed', 'The body is not valid JSON.');
  return null;
}
