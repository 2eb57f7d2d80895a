import { Readable } from 'node:stream';
import { type AuthError } from '../domain/errors';
import { ERROR_RESPONSES } from './error-responses';
import { bodyRefusal, isRouteBelow } from './library-routes';

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
      (filled) => done(null, filled ? body : Readable.from([Buffer.from('{}')])),
      (error: Error) => done(error),
    );
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const refusal = isOurs(request) && isPlatformError(payload) ? bodyRefusal(reply.statusCode) : null;
    done(null, refusal ? written(refusal) : payload);
  });
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
