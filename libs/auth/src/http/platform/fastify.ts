import type { Readable } from 'node:stream';
import { errorBody } from '../endpoints/error-responses';
import { bodyError, withReadableEscapes, type RouteMatcher } from './library-routes';

/** The parts of a Fastify request that this file uses. */
interface FastifyRequest {
  readonly url: string;
  readonly raw: { readonly headers: Record<string, string | string[] | undefined> };
}

interface FastifyReply {
  readonly statusCode: number;
  header(name: string, value: string): unknown;
}

type Hook<Rest extends unknown[]> = (request: FastifyRequest, reply: FastifyReply, ...rest: Rest) => void;

export interface FastifyApplication {
  readonly server: {
    prependListener(event: 'request', listener: (request: { url?: string }) => void): unknown;
  };
  addHook(name: 'onRequest', hook: Hook<[done: () => void]>): unknown;
  addHook(
    name: 'preParsing',
    hook: Hook<[body: Readable, done: (error: Error | null, body?: Readable) => void]>,
  ): unknown;
  addHook(name: 'onSend', hook: Hook<[payload: unknown, done: (error: null, payload: unknown) => void]>): unknown;
}

/** Matches the last segment of a path if it is longer than Fastify's default limit for a route parameter. */
const OVERLONG = /[^/]{101,}(?=\/?$)/;

/** Installs the hooks that the library's routes need on Fastify. */
export function configureFastify(fastify: FastifyApplication, isLibraryRoute: RouteMatcher): void {
  const isOfLibrary = ({ url }: FastifyRequest): boolean => isLibraryRoute(url.split('?')[0] ?? '');
  // Fastify rejects malformed percent-encoding and long parameters before any hook. A request with
  // a malformed or long session id must fail with 404 instead.
  fastify.server.prependListener('request', (request) => {
    const [path = '', ...query] = (request.url ?? '').split('?');
    if (isLibraryRoute(path)) request.url = [withReadableEscapes(path).replace(OVERLONG, '-'), ...query].join('?');
  });
  // Fastify parses bodies before Nest handles the request, and can reject an empty body that has a content type.
  fastify.addHook('onRequest', (request, reply, done) => {
    if (isOfLibrary(request)) {
      reply.header('Cache-Control', 'no-store');
      const { headers } = request.raw;
      const isEmpty = (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined;
      if (isEmpty) delete headers['content-type'];
    }
    done();
  });
  // A chunked body must be read to find out whether it is empty.
  fastify.addHook('preParsing', (request, _reply, body, done) => {
    if (!isOfLibrary(request) || request.raw.headers['transfer-encoding'] === undefined) return done(null, body);
    hasContent(body).then(
      (isFilled) => {
        // Fastify uses these headers to determine whether there is a body, and which type the body has.
        if (!isFilled) for (const name of ['content-type', 'transfer-encoding']) delete request.raw.headers[name];
        done(null, body);
      },
      (error: Error) => done(error),
    );
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const error = isOfLibrary(request) && isPlatformError(payload) ? bodyError(reply.statusCode) : null;
    done(null, error ? JSON.stringify(errorBody(error)) : payload);
  });
}

/**
 * Returns whether the body has the form of Nest's default response to an error of Fastify, which begins
 * with the status. No body of the library contains the status.
 */
function isPlatformError(payload: unknown): boolean {
  return typeof payload === 'string' && payload.startsWith('{"statusCode":');
}

/** Returns whether a stream has any content. Any chunk that was read is put back into the stream. */
function hasContent(stream: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settle = (report: () => void): void => {
      stream.off('readable', look).off('end', end).off('error', fail);
      report();
    };
    const look = (): void => {
      const chunk = stream.read() as Buffer | null;
      if (chunk === null) return;
      settle(() => stream.unshift(chunk));
      resolve(true);
    };
    const end = (): void => settle(() => resolve(false));
    const fail = (error: Error): void => settle(() => reject(error));
    stream.on('readable', look).once('end', end).once('error', fail);
  });
}
