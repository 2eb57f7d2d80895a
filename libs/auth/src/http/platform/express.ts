import { ERROR_RESPONSES, errorBody } from '../endpoints/error-responses';
import { bodyError, withReadableEscapes, type RouteMatcher } from './library-routes';

/** The parts of Express that are used here. */
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

/** Installs what the library's routes need on Express, behind the body parsers. */
export function configureExpress(express: ExpressApplication, isLibraryRoute: RouteMatcher): void {
  // Bodies are parsed before routing, so filters of routes do not see the errors.
  express.use((error: unknown, request: ExpressRequest, response: ExpressResponse, next: Next): void => {
    const ours = isLibraryRoute(request.path) ? bodyError((error as { status?: unknown } | null)?.status) : null;
    if (!ours) return next(error);
    response.setHeader('Cache-Control', 'no-store');
    response.status(ERROR_RESPONSES[ours.code].status).json(errorBody(ours));
  });
  // Express rejects malformed escapes itself. Here such a session id is simply unknown.
  express.use((request: ExpressRequest, _response: ExpressResponse, next: Next): void => {
    if (isLibraryRoute(request.path)) request.url = withReadableEscapes(request.path, request.url);
    next();
  });
}
