import type { Readable } from 'node:stream';
import { type AuthError } from '../domain/errors';
import { ERROR_RESPONSES } from './error-responses';
import { bodyRefusal, isRouteBelow, withReadableEscapes } from './library-routes';

/** What is used of Fastify here. */
interface FastifyRequest {
  readonly url: string;
  readonly raw: { readonly headers: Record<string, string | string[] | undefined> };
}

interface FastifyReply {
  readonly statusCode: number;
  header(name: string, value: string): unknown;
}

export interface FastifyInstance {
  readonly server: {
    prependListener(event: 'request', listener: (request: { url?: string }) => void): unknown;
  };
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void): unknown;
  addHook(
    name: 'preParsing',
    hook: (
      request: FastifyRequest,
      reply: FastifyReply,
      body: Readable,
      done: (error: Error | null, body?: Readable) => void,
    ) => void,
  ): unknown;
  addHook(
    name: 'onSend',
    hook: (
      request: FastifyRequest,
      reply: FastifyReply,
      payload: unknown,
      done: (error: null, payload: unknown) => void,
    ) => void,
  ): unknown;
}

/**
 * Fastify reads a body after it has found the route and before Nest has a say. On the library's routes an empty body is
 * made an absent one, and what is wrong with a body is answered in the library's shape.
 */
export function answerBodiesOnFastify(fastify: FastifyInstance, mountPath: string): void {
  const matches = isRouteBelow(mountPath);
  const isOurs = ({ url }: FastifyRequest): boolean => matches(url.split('?')[0] ?? '');
  fastify.addHook('onRequest', (request, reply, done) => {
    if (isOurs(request)) {
      reply.header('Cache-Control', 'no-store');
      const { headers } = request.raw;
      const length = headers['content-length'] ?? '0';
      if (length === '0' && headers['transfer-encoding'] === undefined) delete headers['content-type'];
    }
    done();
  });
  // Whether a body that comes in chunks is empty shows when it is read.
  fastify.addHook('preParsing', (request, _reply, body, done) => {
    if (!isOurs(request) || request.raw.headers['transfer-encoding'] === undefined) return done(null, body);
    isFilled(body).then(
      (filled) => {
        if (!filled) forgetBody(request);
        done(null, body);
      },
      (error: Error) => done(error),
    );
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const refusal = isOurs(request) && isPlatformError(payload) ? bodyRefusal(reply.statusCode) : null;
    done(null, refusal ? written(refusal) : payload);
  });
}

/** The last part of a path, where it is longer than what Fastify takes for a parameter unless the host says otherwise. */
const OVERLONG = /[^/]{101,}(?=\/?$)/;

/**
 * Lets a path with a broken escape, or with an id of any length, come to the guard and the route, as on Express: such an id is
 * one that nobody has. Fastify answers them before any hook; the one place in front of it is the server.
 */
export function readAnyPathOnFastify({ server }: FastifyInstance, mountPath: string): void {
  const matches = isRouteBelow(mountPath);
  server.prependListener('request', (request) => {
    const [path = '', ...query] = (request.url ?? '').split('?');
    if (matches(path)) request.url = [withReadableEscapes(path).replace(OVERLONG, '-'), ...query].join('?');
  });
}

/** Fastify tells by these whether there is a body, and of which type. */
function forgetBody({ raw: { headers } }: FastifyRequest): void {
  delete headers['content-type'];
  delete headers['transfer-encoding'];
}

/** Nest writes its own errors with their status in the body; the library's never have it. */
function isPlatformError(payload: unknown): boolean {
  return typeof payload === 'string' && payload.startsWith('{"statusCode":');
}

function written(refusal: AuthError): string {
  return JSON.stringify(ERROR_RESPONSES[refusal.code].body(refusal));
}

/** Whether a stream has anything in it; what was read is put back. */
function isFilled(stream: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const chunk = stream.read() as Buffer | null;
      if (chunk === null) return;
      settle();
      stream.unshift(chunk);
      resolve(true);
    };
    const end = (): void => {
      settle();
      resolve(false);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const settle = (): void => void stream.off('readable', look).off('end', end).off('error', fail);
    stream.on('readable', look).once('end', end).once('error', fail);
  });
}
