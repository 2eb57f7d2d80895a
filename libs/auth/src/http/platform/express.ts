import { ERROR_RESPONSES, errorBody } from '../endpoints/error-responses';
import { bodyError, withReadableEscapes, type RouteMatcher } from './library-routes';

/** The part of an Express request that this file uses. */
interface ExpressRequest {
  readonly path: string;
  url: string;
}

interface ExpressResponse {
  setHeader(name: string, value: string): unknown;
  status(code: number): { json(body: object): unknown };
}

type Next = (error?: unknown) => void;

export interface ExpressApplication {
  use(handler: (request: ExpressRequest, response: ExpressResponse, next: Next) => void): unknown;
  use(handler: (error: unknown, request: ExpressRequest, response: ExpressResponse, next: Next) => void): unknown;
}

/** Installs the handlers that the library's routes need on Express, after the body parsers. */
export function configureExpress(express: ExpressApplication, isLibraryRoute: RouteMatcher): void {
  // Express parses bodies before routing, so the filter of the library's controllers does not see the errors of the
  // body parsers.
  express.use((error: unknown, request: ExpressRequest, response: ExpressResponse, next: Next): void => {
    const authError = isLibraryRoute(request.path) ? bodyError((error as { status?: unknown } | null)?.status) : null;
    if (!authError) return next(error);
    response.setHeader('Cache-Control', 'no-store');
    response.status(ERROR_RESPONSES[authError.code].status).json(errorBody(authError));
  });
  // Express rejects malformed percent-encoding when it matches a route, before the handler runs. A
  // request with a malformed session id must fail with 404 instead.
  express.use((request: ExpressRequest, _response: ExpressResponse, next: Next): void => {
    if (isLibraryRoute(request.path)) request.url = withReadableEscapes(request.path, request.url);
    next();
  });
}
