import type { Type } from '@nestjs/common';
import { GUARDS_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { type HttpAdapterHost, MetadataScanner, type ModuleRef, type ModulesContainer } from '@nestjs/core';
import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { AuthError } from '../base/errors';

// Everything in the library that depends on private parts of Nest, Express or Fastify.

/** Returns the guards of a handler or class, including inherited guards. */
export function guardsOf(target: object): readonly unknown[] {
  return (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as unknown[];
}

/** Returns the classes of all controllers and providers. */
export function classesOf(modules: ModulesContainer): readonly Type[] {
  const classes = [...modules.values()].flatMap(({ controllers, providers }) =>
    [...controllers.values(), ...providers.values()].map(({ metatype }) => metatype as Type | null),
  );
  return [...new Set(classes)].filter((type): type is Type => Boolean(type?.prototype));
}

/** Returns the methods of a class, including inherited methods. */
export function handlersOf(type: Type): readonly { readonly name: string; readonly handler: object }[] {
  const prototype = type.prototype as Record<string, object>;
  return new MetadataScanner().getAllMethodNames(prototype).map((name) => ({ name, handler: prototype[name]! }));
}

/**
 * Removes controllers from a module. Call this function while Nest creates the providers of the module, before Nest
 * creates the controllers and routes.
 * @param module the class of the module
 */
export function unmountControllers(modules: ModulesContainer, module: unknown, unmounted: readonly Type[]): void {
  for (const { metatype, controllers } of modules.values()) {
    if (metatype === module) for (const controller of unmounted) controllers.delete(controller);
  }
}

/** Returns whether a path belongs to one of the library's routes. */
type RouteMatcher = (path: string) => boolean;

/**
 * Returns a function that matches the paths of controllers under the global prefix and the mount path. Like Express, the
 * function ignores case and a trailing slash. The global prefix is read from Nest's container.
 */
export function libraryRoutes(moduleRef: ModuleRef, mountPath: string, controllers: readonly Type[]): RouteMatcher {
  const { container } = moduleRef as unknown as { container?: { applicationConfig?: { getGlobalPrefix(): string } } };
  const globalPrefix = container?.applicationConfig?.getGlobalPrefix() ?? '';
  const segments = `${globalPrefix}/${mountPath}`.split('/').filter(Boolean);
  const prefix = segments.map((segment) => `/${segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`).join('');
  const paths = controllers
    .flatMap(handlersOf)
    .map(({ handler }) => Reflect.getMetadata(PATH_METADATA, handler) as string | undefined)
    .flatMap((path) => path?.replace(/:\w+/g, '[^/]+') ?? []);
  const route = new RegExp(`^${prefix}/(?:${paths.join('|')})/?$`, 'i');
  return (path) => route.test(path);
}

/** Installs the handlers that the library's routes need on Express, after the body parsers, or on Fastify. */
export function configureRoutes({ httpAdapter }: HttpAdapterHost, isLibraryRoute: RouteMatcher): void {
  if (httpAdapter.getType() === 'fastify') configureFastify(httpAdapter.getInstance(), isLibraryRoute);
  if (httpAdapter.getType() === 'express') configureExpress(httpAdapter.getInstance(), isLibraryRoute);
}

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

interface ExpressApplication {
  use(handler: (request: ExpressRequest, response: ExpressResponse, next: Next) => void): unknown;
  use(handler: (error: unknown, request: ExpressRequest, response: ExpressResponse, next: Next) => void): unknown;
}

function configureExpress(express: ExpressApplication, isLibraryRoute: RouteMatcher): void {
  // Express parses bodies before routing, so the filter of the library's controllers does not see the errors of the
  // body parsers.
  express.use((error: unknown, request: ExpressRequest, response: ExpressResponse, next: Next): void => {
    const authError = isLibraryRoute(request.path) ? bodyError((error as { status?: unknown } | null)?.status) : null;
    if (!authError) return next(error);
    response.setHeader('Cache-Control', 'no-store');
    response.status(authError.getStatus()).json(authError.getResponse());
  });
  // Express rejects malformed percent-encoding when it matches a route, before the handler runs. A request with a
  // malformed session id must fail with 404 instead.
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

interface FastifyApplication {
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

function configureFastify(fastify: FastifyApplication, isLibraryRoute: RouteMatcher): void {
  const isOfLibrary = ({ url }: FastifyRequest): boolean => isLibraryRoute(url.split('?')[0] ?? '');
  // Fastify rejects malformed percent-encoding and long parameters before any hook. A request with a malformed or long
  // session id must fail with 404 instead.
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
  // Nest's default response to an error of Fastify begins with the status. No body of the library contains it.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const isPlatformError = typeof payload === 'string' && payload.startsWith('{"statusCode":');
    const error = isPlatformError && isOfLibrary(request) ? bodyError(reply.statusCode) : null;
    done(null, error ? JSON.stringify(error.getResponse()) : payload);
  });
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

/**
 * Returns the URL. If the percent-encoding of its path is malformed, encodes every `%` as `%25`, so that the platform
 * reads the path as plain text.
 */
function withReadableEscapes(path: string, url: string = path): string {
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return url.replaceAll('%', '%25');
  }
}

/** Returns the error for the HTTP status that a body parser reports, or null for an unknown status. */
function bodyError(status: unknown): AuthError | null {
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
 * Reads the address of each connection as soon as the connection is accepted. Node.js caches an address that was read,
 * so `request.ip` is known even after the client has reset the connection.
 */
export function cachePeerAddresses(server: EventEmitter): void {
  const read = (socket: { readonly remoteAddress?: string }): void => void socket.remoteAddress;
  // With TLS, `request.socket` is the TLS socket, which has its own cache.
  for (const event of ['connection', 'secureConnection']) server.prependListener(event, read);
}

/** Calls `report` once, at the first request with `X-Forwarded-For`. */
export function onFirstForwardedRequest(server: EventEmitter, report: () => void): void {
  const check = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): void => {
    if (headers['x-forwarded-for'] === undefined) return;
    server.off('request', check);
    report();
  };
  server.on('request', check);
}

/** The settings of the HTTP platform on which the library depends. */
interface PlatformSettings {
  /** The name of the setting that selects the trusted proxies. */
  readonly proxySetting: string;
  readonly trustedProxies: unknown;
  /** Whether routes with a trailing slash are served. */
  readonly servesTrailingSlash: boolean;
}

interface PlatformInstance {
  get?(setting: string): unknown;
  readonly initialConfig?: {
    readonly ignoreTrailingSlash?: boolean;
    readonly routerOptions?: { readonly ignoreTrailingSlash?: boolean };
  };
}

/** Returns the settings of Express or Fastify. */
export function platformSettings({ httpAdapter }: HttpAdapterHost): PlatformSettings {
  const adapter = httpAdapter as { getType?(): string; getInstance?(): unknown } | undefined;
  const instance = (adapter?.getInstance?.() ?? {}) as PlatformInstance;
  return adapter?.getType?.() === 'fastify' ? fastifySettings(instance) : expressSettings(instance);
}

function expressSettings(instance: PlatformInstance): PlatformSettings {
  return {
    proxySetting: 'trust proxy',
    trustedProxies: instance.get?.('trust proxy'),
    servesTrailingSlash: true,
  };
}

function fastifySettings(instance: PlatformInstance): PlatformSettings {
  const { ignoreTrailingSlash, routerOptions } = instance.initialConfig ?? {};
  // The options that Fastify was created with. `initialConfig` does not contain `trustProxy`.
  const key = Object.getOwnPropertySymbols(instance).find(({ description }) => description === 'fastify.options');
  const options = key && (instance as Record<symbol, { readonly trustProxy?: unknown }>)[key];
  return {
    proxySetting: 'trustProxy',
    trustedProxies: options?.trustProxy,
    servesTrailingSlash: Boolean(ignoreTrailingSlash || routerOptions?.ignoreTrailingSlash),
  };
}
