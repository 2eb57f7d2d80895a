import type { AuthError } from '../domain/errors';
import { AuthError as Refusal } from '../domain/errors';
import { ERROR_RESPONSES } from './error-responses';

/** What is used of Express here. */
interface ExpressRequest {
  readonly path: string;
}

interface ExpressResponse {
  setHeader(name: string, value: string): unknown;
  status(code: number): { json(body: object): unknown };
}

type Next = (error?: unknown) => void;

/**
 * Express reads bodies before it looks for a route, so what is wrong with a body is known before any filter of a route
 * is. This stands behind the body parsers and answers for the library's routes alone.
 */
export function bodyErrorHandler(mountPath: string) {
  const isOurs = isBelow(mountPath);
  return (error: unknown, request: ExpressRequest, response: ExpressResponse, next: Next): void => {
    const refusal = isOurs(request.path) ? refusalOf(error) : null;
    if (!refusal) return next(error);
    const { status, body } = ERROR_RESPONSES[refusal.code];
    response.setHeader('Cache-Control', 'no-store');
    response.status(status).json(body(refusal));
  };
}

/** Whether a path is the mount path or below it; Express takes them without regard to case. */
function isBelow(mountPath: string): (path: string) => boolean {
  const prefix = `/${mountPath.split('/').filter(Boolean).join('/')}/`.replace('//', '/').toLowerCase();
  return (path) => `${path.toLowerCase()}/`.startsWith(prefix);
}

/** Body parsers tell what is wrong by a status (http-errors). */
function refusalOf(error: unknown): AuthError | null {
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 413) return new Refusal('body_too_large', 'The body is too large.');
  if (status === 415) return new Refusal('body_not_json', 'The body must be JSON in UTF-8.');
  if (status === 400) return new Refusal('body_malformed', 'The body is not valid JSON.');
  return null;
}
