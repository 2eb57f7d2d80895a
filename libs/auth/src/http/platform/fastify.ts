import type { Readable } from 'node:stream';
import { errorBody } from '../endpoints/error-responses';
import { bodyError, withReadableEscapes, type RouteMatcher } from './library-routes';

/** The parts of Fastify that are used here. */
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

/** The last segment of a path, if it is longer than Fastify's default limit for a parameter. */
const OVERLONG = /[^/]{101,}(?=\/?$)/;

/** Installs what the library's routes need on Fastify. */
export function configureFastify(fastify: FastifyApplication, isLibraryRoute: RouteMatcher): void {
  const isOurs = ({ url }: FastifyRequest): boolean => isLibraryRoute(url.split('?')[0] ?? '');
  // Fastify rejects malformed escapes and long ids before any hook; here such a session is unknown.
  fastify.server.prependListener('request', (request) => {
    const [path = '', ...query] = (request.url ?? '').split('?');
    if (isLibraryRoute(path)) request.url = [withReadableEscapes(path).replace(OVERLONG, '-'), ...query].join('?');
  });
  // Fastify parses bodies before Nest sees the request, and rejects an empty one with a content type.
  fastify.addHook('onRequest', (request, reply, done) => {
    if (isOurs(request)) {
      reply.header('Cache-Control', 'no-store');
      const { headers } = request.raw;
      const isEmpty = (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined;
      if (isEmpty) delete headers['content-type'];
    }
    done();
  });
  // Whether a chunked body is empty is known only once it is read.
  fastify.addHook('preParsing', (request, _reply, body, done) => {
    if (!isOurs(request) || request.raw.headers['transfer-encoding'] === undefined) return done(null, body);
    hasContent(body).then(
      (filled) => {
        // From these headers Fastify infers whether there is a body, and its type.
        if (!filled) for (const name of ['content-type', 'transfer-encoding']) delete request.raw.headers[name];
        done(null, body);
      },
      (error: Error) => done(error),
    );
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const error = isOurs(request) && isPlatformError(payload) ? bodyError(reply.statusCode) : null;
    done(null, error ? JSON.stringify(errorBody(error)) : payload);
  });
}

/** Nest's own errors have their status in the body; the library's never do. */
function isPlatformError(payload: unknown): boolean {
  return typeof payload === 'string' && payload.startsWith('{"statusCode":');
}

/** Whether a stream has any content. What is read is put back. */
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
