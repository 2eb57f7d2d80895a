import { RequestMethod, SetMetadata, type Type } from '@nestjs/common';
import { GUARDS_METADATA, METHOD_METADATA, PATH_METADATA, SSE_METADATA } from '@nestjs/common/constants';
import { type HttpAdapterHost, MetadataScanner, type ModulesContainer } from '@nestjs/core';
import type { ErrorRequestHandler, Express } from 'express';
import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { Readable } from 'node:stream';
import { AuthError } from '../base/errors';
import { readManifest } from '../base/versions';

// Everything in the library that depends on private parts of Nest, Express or Fastify.

/** Returns the guards of a handler or class, including inherited guards. */
export function guardsOf(target: object): readonly unknown[] {
  return (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as unknown[];
}

/** Returns whether a handler sends server-sent events, or is a GraphQL subscription. */
export function opensStream(handler: object): boolean {
  const isSubscription = Reflect.getMetadata('graphql:resolver_type', handler) === 'Subscription';
  return isSubscription || Reflect.getMetadata(SSE_METADATA, handler) === true;
}

/** Returns whether Nest ignores the guards of a handler: of a GraphQL field, unless `fieldResolverEnhancers` has them. */
export function ignoresGuards(handler: object, modules: ModulesContainer): boolean {
  const kinds = ['graphql:resolve_property', 'graphql:resolve_reference'];
  if (!kinds.some((kind) => Reflect.hasMetadata(kind, handler))) return false;
  return [...modules.values()].some(({ providers }) => {
    const options = providers.get('GqlModuleOptions')?.instance as { fieldResolverEnhancers?: string[] } | undefined;
    return options && !options.fieldResolverEnhancers?.includes('guards');
  });
}

/** Returns whether Nest ignores global guards of a handler: of a gateway's message, before version 12. */
export function ignoresGlobalGuards(handler: object): boolean {
  if (!Reflect.hasMetadata('websockets:message_mapping', handler)) return false;
  // In a bundle, the version is unknown.
  return Number.parseInt(readManifest('@nestjs/websockets')?.version ?? '12') < 12;
}

/** Returns the classes of all controllers and providers. */
export function classesOf(modules: ModulesContainer): readonly Type[] {
  const classes = [...modules.values()].flatMap(({ controllers, providers }) =>
    [...controllers.values(), ...providers.values()].map(({ metatype }) => metatype as Type | null),
  );
  return [...new Set(classes)].filter((type): type is Type => Boolean(type?.prototype));
}

/** Returns the methods of a class that have decorators, including inherited methods. */
export function handlersOf(type: Type): readonly { readonly name: string; readonly handler: object }[] {
  const prototype = type.prototype as Record<string, object>;
  const isDecorated = (name: string): boolean => Reflect.getOwnMetadataKeys(prototype[name]!).length > 0;
  const names = new MetadataScanner().getAllMethodNames(prototype).filter(isDecorated);
  return names.map((name) => ({ name, handler: prototype[name]! }));
}

/** Removes a controller from a module, while Nest creates its providers, before Nest creates controllers and routes. */
export function unmountController(modules: ModulesContainer, module: unknown, controller: Type): void {
  for (const { metatype, controllers } of modules.values()) if (metatype === module) controllers.delete(controller);
}

/** Returns a subclass of a controller without some of its handlers, which Nest then does not mount. */
export function withoutHandlers(controller: Type, handlers: readonly string[]): Type {
  const subclass = class extends controller {};
  Object.defineProperty(subclass, 'name', { value: controller.name });
  for (const name of handlers) Object.defineProperty(subclass.prototype, name, { value: undefined });
  return subclass;
}

/** A route of the HTTP server. */
export interface MountedRoute {
  readonly method: string;
  readonly path: string;
  readonly isOfLibrary: boolean;
}

/** Returns the handlers, such as `UsersController.login`, to which the decorators of the controllers give a route. */
export function handlersServing({ method, path }: MountedRoute, controllers: readonly Type[]): readonly string[] {
  const pathsOf = (target: object): string[] => [(Reflect.getMetadata(PATH_METADATA, target) ?? []) as string].flat();
  return controllers.flatMap((controller) => {
    const serving = handlersOf(controller).filter(({ handler }) => {
      const verb = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      const ends = pathsOf(controller).flatMap((base) => pathsOf(handler).map((end) => shapeOf(`/${base}/${end}`)));
      const isVerb = verb === RequestMethod.ALL || (verb !== undefined && RequestMethod[verb] === method);
      return isVerb && ends.some((end) => end !== '' && shapeOf(path).endsWith(end));
    });
    return serving.map(({ name }) => `${controller.name}.${name}`);
  });
}

/** Equal for paths that differ only in case, which Express ignores, in a trailing slash, or in names of parameters. */
export function shapeOf(path: string): string {
  return path.replace(/:\w+/g, ':').replace(/\/+/g, '/').replace(/\/$/, '').toLowerCase();
}

// The metadata key of `@RouteConfig()` of @nestjs/platform-fastify. Nest copies the metadata of a handler to the function
// in the router, and on Fastify also to the configuration of the route.
const ROUTE_CONFIG = '__fastify_route_config__';

/** Marks a handler as a route of the library. */
export const LibraryRoute = (): MethodDecorator => SetMetadata(ROUTE_CONFIG, { isOfSessionAuth: true });

function isMarked(routeConfig: unknown): boolean {
  return (routeConfig as { readonly isOfSessionAuth?: boolean } | undefined)?.isOfSessionAuth === true;
}

/**
 * Installs the handlers that the library's routes need on Express, after the body parsers, or on Fastify. Returns a
 * function that returns all routes, once they are mounted.
 */
export function configureRoutes({ httpAdapter }: HttpAdapterHost): () => readonly MountedRoute[] {
  if (httpAdapter.getType() === 'fastify') return configureFastify(httpAdapter.getInstance());
  if (httpAdapter.getType() === 'express') return configureExpress(httpAdapter.getInstance());
  return () => [];
}

interface ExpressRouter {
  readonly stack: readonly {
    match(path: string): boolean;
    readonly route?: {
      readonly path: unknown;
      readonly stack: readonly { readonly method?: string; readonly handle: object }[];
    };
  }[];
}

function configureExpress(express: Express): () => readonly MountedRoute[] {
  // In Express 4, `router` throws an error.
  const layers = (): ExpressRouter['stack'] => ((express._router ?? express.router) as ExpressRouter).stack;
  const isLibraryRoute = (method: string, path: string): boolean =>
    layers().some((layer) => {
      const handlers = layer.route?.stack.filter((one) => one.method === method.toLowerCase()) ?? [];
      return handlers.some(({ handle }) => isMarked(Reflect.getMetadata(ROUTE_CONFIG, handle))) && layer.match(path);
    });
  // Express parses bodies before routing, so the library's filter does not see the errors of the body parsers.
  const respond: ErrorRequestHandler = (error, { method, path }, response, next) => {
    const authError = bodyError((error as { readonly status?: unknown } | null)?.status);
    if (!authError || !isLibraryRoute(method, path)) return next(error);
    response.setHeader('Cache-Control', 'no-store');
    response.status(authError.getStatus()).json(authError.getResponse());
  };
  express.use(respond);
  return () =>
    layers().flatMap(({ route }) =>
      (route?.stack ?? []).map(({ method, handle }) => ({
        method: String(method).toUpperCase(),
        path: String(route!.path),
        isOfLibrary: isMarked(Reflect.getMetadata(ROUTE_CONFIG, handle)),
      })),
    );
}

function configureFastify(fastify: FastifyInstance): () => readonly MountedRoute[] {
  const mounted: MountedRoute[] = [];
  fastify.addHook('onRoute', (route) => {
    const isOfLibrary = isMarked(route.config);
    const { url: path } = route;
    // Fastify refuses a second route with the same path, without the name of its controller. At another path, it exists
    // until `AuthModule` reports both.
    const isSame = (one: MountedRoute): boolean => shapeOf(one.path) === shapeOf(path);
    if (mounted.some((one) => isSame(one) && one.isOfLibrary !== isOfLibrary)) route.url = `/${randomUUID()}`;
    mounted.push(...[route.method].flat().map((method) => ({ method, path, isOfLibrary })));
    if (!isOfLibrary) return;
    // Fastify can reject an empty body that has a content type. These headers determine whether there is a body.
    route.preParsing = async ({ raw }, _reply, body) => {
      if (await hasContent(body)) return;
      delete raw.headers['content-type'];
      delete raw.headers['transfer-encoding'];
    };
    // Fastify passes the errors of its parsers to the application's filters, unless the route has an error handler.
    route.errorHandler = (error, _request, reply) => {
      const authError = bodyError(error.statusCode);
      if (!authError) throw error;
      reply.code(authError.getStatus()).send(authError.getResponse());
    };
    route.onSend = (_request, reply, _payload, done) => {
      reply.header('Cache-Control', 'no-store');
      done();
    };
    // Fastify does not route a parameter of more than 100 characters, so session ids are shortened. It decodes paths, and
    // routes absolute URLs.
    const [, parent] = /^(.*\/):\w+$/.exec(path) ?? [];
    if (parent === undefined) return;
    const spellings = parent.replace(/:\w+|[^/]/g, (part) =>
      part.length > 1 ? '[^/]+' : `(?:\\x${hex(part)}|%${hex(part)})`,
    );
    const overlong = new RegExp(`^((?:https?://[^/]*)?${spellings})[^/?]{101,}(?=/?(?:[?]|$))`, 'i');
    fastify.server.prependListener('request', (request) => {
      if (request.method === 'DELETE') request.url = request.url?.replace(overlong, '$1-');
    });
  });
  return () => mounted;
}

function hex(character: string): string {
  return Buffer.from(character).toString('hex');
}

/** Returns whether the body of a request has any content, without consuming it. */
async function hasContent(body: Readable): Promise<boolean> {
  if (body.readableLength === 0 && !body.readableEnded) {
    const begun = Promise.race([once(body, 'readable'), once(body, 'end')]);
    // If the connection breaks first, the parser reports it.
    if (!(await begun.catch(() => null))) return true;
  }
  return body.readableLength > 0;
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

/** Returns the settings of Express or Fastify for trusted proxies and trailing slashes. */
export function platformSettings({ httpAdapter }: HttpAdapterHost): {
  /** The name of the setting that selects the trusted proxies. */
  readonly proxySetting: string;
  readonly trustedProxies: unknown;
  readonly servesTrailingSlash: boolean;
} {
  const adapter = httpAdapter as { getType?(): string; getInstance?(): unknown } | undefined;
  const instance = (adapter?.getInstance?.() ?? {}) as Partial<
    Pick<Express, 'get'> & Pick<FastifyInstance, 'initialConfig'>
  >;
  if (adapter?.getType?.() !== 'fastify') {
    const proxySetting = 'trust proxy';
    return { proxySetting, trustedProxies: instance.get?.(proxySetting), servesTrailingSlash: true };
  }
  // The options that Fastify was created with. `initialConfig` does not contain `trustProxy`.
  const key = Object.getOwnPropertySymbols(instance).find(({ description }) => description === 'fastify.options');
  const options = key && (instance as Record<symbol, { readonly trustProxy?: unknown }>)[key];
  const { ignoreTrailingSlash, routerOptions } = instance.initialConfig ?? {};
  const servesTrailingSlash = [ignoreTrailingSlash, routerOptions?.ignoreTrailingSlash].includes(true);
  return { proxySetting: 'trustProxy', trustedProxies: options?.trustProxy, servesTrailingSlash };
}
