import { AuthError } from '../domain/errors';
import { ERROR_RESPONSES } from './error-responses';

/** What is used of Express here. */
interface ExpressRequest {
  readonly path: string;
  url: string;
}

interface ExpressResponse {
  setHeader(name: string, value: string): unknown;
  status(code: number): { json(body: object): unknown };
}

type Next = (error?: unknown) => void;
type Handler = (request: ExpressRequest, response: unknown, next: Next) => void;
type ErrorHandler = (error: unknown, request: ExpressRequest, response: ExpressResponse, next: Next) => void;

/**
 * Express reads bodies before it looks for a route, so what is wrong with a body is known before any filter of a route
 * is. This stands behind the body parsers and answers for the library's routes alone.
 */
export function bodyErrorHandler(mountPath: string): ErrorHandler {
  const isOurs = isRouteBelow(mountPath);
  return (error: unknown, request: ExpressRequest, response: ExpressResponse, next: Next): void => {
    const refusal = isOurs(request.path) ? bodyRefusal((error as { status?: unknown } | null)?.status) : null;
    if (!refusal) return next(error);
    const { status, body } = ERROR_RESPONSES[refusal.code];
    response.setHeader('Cache-Control', 'no-store');
    response.status(status).json(body(refusal));
  };
}

/**
 * Lets a path with a broken escape, which Express would refuse by itself, come to the guard and the route as plain text:
 * such a session id is one that nobody has.
 */
export function brokenEscapeReader(mountPath: string): Handler {
  const isOurs = isRouteBelow(mountPath);
  return (request: ExpressRequest, _response: unknown, next: Next): void => {
    if (isOurs(request.path)) request.url = withReadableEscapes(request.path, request.url);
    next();
  };
}

/** A URL with all of its escapes taken for plain text, where those of its path cannot be read. */
export function withReadableEscapes(path: string, url: string = path): string {
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return url.replaceAll('%', '%25');
  }
}

const ROUTES = 'login|token/refresh|logout|logout/all|sessions|sessions/[^/]+|history|password/change|reauthenticate';

/** Whether a path is one of the library's routes; Express takes them without regard to case. */
export function isRouteBelow(mountPath: string): (path: string) => boolean {
  const prefix = mountPath.split('/').filter(Boolean).map(escaped).join('/');
  const route = new RegExp(`^/${prefix ? `${prefix}/` : ''}(?:${ROUTES})/?$`, 'i');
  return (path) => route.test(path);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Body parsers tell what is wrong by a status (http-errors). */
export function bodyRefusal(status: unknown): AuthError | null {
  if (status === 413) return new AuthError('body_too_large', 'The body is too large.');
  if (status === 415) return new AuthError('body_not_json', 'The body must be JSON in UTF-8.');
  if (status === 400) return new AuthError('body_malformed', 'The body is not valid JSON.');
  return null;
}
