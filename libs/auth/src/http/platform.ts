import type { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import type { AuthService } from '../auth.service';
import { AuthError } from '../base/errors';
import type { Endpoint } from './endpoints';
import { ERROR_RESPONSES, errorBody } from './error-responses';

/** The metadata key of `@MountedIf()`. */
export const MOUNTED_IF = 'nestjs-session-auth:mounted-if';

/** The settings that decide which optional routes are mounted. */
export type MountSettings = Pick<AuthService, 'canSetPasswords' | 'canReauthenticate'>;

export type MountCondition = (settings: MountSettings) => boolean;

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

/** Returns the HTTP server of the application, if it has one. */
export function httpServerOf({ httpAdapter }: HttpAdapterHost): EventEmitter | null {
  const server = (httpAdapter as { getHttpServer?(): unknown } | undefined)?.getHttpServer?.();
  return server instanceof EventEmitter ? server : null;
}

/**
 * Reads the address of each connection as soon as the connection is accepted. Node.js caches an address that was read, so
 * `request.ip` is known even after the client has reset the connection.
 */
export function cachePeerAddresses(server: EventEmitter): void {
  const read = (socket: { readonly remoteAddress?: string }): void => void socket.remoteAddress;
  // With TLS, `request.socket` is the TLS socket, which has its own cache.
  for (const event of ['connection', 'secureConnection']) server.prependListener(event, read);
}
