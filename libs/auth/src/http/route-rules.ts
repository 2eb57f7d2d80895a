import { type CanActivate, type ExecutionContext, SetMetadata, type Type } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';

/**
 * Returns the names of handlers and classes whose decorators contradict each other, such as `@Public()` and a guard.
 */
export function contradictoryRoutes(modules: ModulesContainer): readonly string[] {
  const classes = [...modules.values()].flatMap(({ controllers, providers }) =>
    [...controllers.values(), ...providers.values()].map(({ metatype }) => metatype as Type | null),
  );
  return [...new Set(classes)].flatMap((type) => (type?.prototype ? contradictionsIn(type) : []));
}

function contradictionsIn(type: Type): string[] {
  const prototype = type.prototype as Record<string, object>;
  const handlers = new MetadataScanner()
    .getAllMethodNames(prototype)
    .filter((name) => isContradictory(prototype[name]!))
    .map((name) => `${type.name}.${name}`);
  return isContradictory(type) ? [type.name, ...handlers] : handlers;
}

function isContradictory(target: object): boolean {
  return Object.values(accessDeclarations(target)).filter(Boolean).length > 1;
}

/** The metadata key of `@Public()`. To check whether a route is public, call `isPublicRoute`. */
export const IS_PUBLIC = 'nestjs-session-auth:public';

/** The metadata key of `@RequireRecentLogin()`. */
export const RECENT_LOGIN = 'nestjs-session-auth:recent-login';

/** The metadata key of `@OptionalAuth()`. */
export const OPTIONAL_AUTH = 'nestjs-session-auth:optional-auth';

/** The metadata key of `@AcceptsRefreshCookie()`. */
export const ACCEPTS_REFRESH_COOKIE = 'nestjs-session-auth:accepts-refresh-cookie';

/** Lets the refresh cookie authenticate a request if the access cookie does not. Only `POST logout/` has it. */
export const AcceptsRefreshCookie = (): MethodDecorator => SetMetadata(ACCEPTS_REFRESH_COOKIE, true);

/** The metadata key of `methods` of `@RequireRecentLogin()`. An empty list means any method. */
export const RECENT_METHODS = 'nestjs-session-auth:recent-methods';

/** The base class of guards that require an access token: `BearerAuthGuard` and its subclasses. */
export abstract class AccessTokenGuard implements CanActivate {
  abstract canActivate(context: ExecutionContext): Promise<boolean>;
}

/** Which access decorators a handler or class has. */
export interface AccessDeclarations {
  /** `@Public()`. */
  readonly isPublic: boolean;
  /** `@OptionalAuth()`. */
  readonly isOptional: boolean;
  /** `@RequireRecentLogin()`, or `@UseGuards()` with `BearerAuthGuard` or a guard that extends it. */
  readonly isGuarded: boolean;
}

/** Returns the access decorators on a handler or class itself, without inherited decorators. */
export function accessDeclarations(target: object): AccessDeclarations {
  const own = (key: string): unknown => Reflect.getOwnMetadata(key, target);
  const guards = (own(GUARDS_METADATA) ?? []) as unknown[];
  // `@UseGuards()` adds to the guards that the class inherits.
  const inherited = guardsOf(Object.getPrototypeOf(target) as object);
  const added = guards.slice(inherited.length).filter(isAccessTokenGuard);
  const isOptional = own(OPTIONAL_AUTH) === true;
  // `@OptionalAuth()` itself adds one guard.
  const isGuarded = own(RECENT_LOGIN) !== undefined || added.length > (isOptional ? 1 : 0);
  return { isPublic: own(IS_PUBLIC) === true, isOptional, isGuarded };
}

type Route = Pick<ExecutionContext, 'getHandler' | 'getClass'>;

/**
 * Returns whether a route is public. A route is public if its handler has `@Public()`, or if its class has
 * `@Public()` and its handler has no access decorator. Call this function in your own global guard to
 * admit calls of public routes, such as the library's login.
 */
export function isPublicRoute(context: Pick<ExecutionContext, 'getHandler' | 'getClass'>): boolean {
  const nearest = nearestDeclarations(context);
  return nearest !== undefined && nearest.isPublic && !nearest.isOptional && !nearest.isGuarded;
}

/** Returns whether the handler of a route, or otherwise its class, has `@OptionalAuth()`. */
export function isOptionalRoute(route: Route): boolean {
  const nearest = nearestDeclarations(route);
  return nearest !== undefined && nearest.isOptional && !nearest.isGuarded;
}

function nearestDeclarations(route: Route): AccessDeclarations | undefined {
  const declared = [route.getHandler(), route.getClass()].map(accessDeclarations);
  return declared.find(({ isPublic, isOptional, isGuarded }) => isPublic || isOptional || isGuarded);
}

/**
 * Returns whether a decorator of the library has added this guard to a route, and a guard of the
 * application is the last of the route's guards that require an access token. Returns false if the route
 * has this guard more than once.
 */
export function isFollowedBySubclassGuard(type: Type<AccessTokenGuard>, context: Route): boolean {
  const targets = [context.getClass(), context.getHandler()];
  const guards = targets.flatMap(guardsOf).filter(isAccessTokenGuard);
  const isAddedByDecorator = targets.some((target) =>
    [RECENT_LOGIN, OPTIONAL_AUTH].some((key) => Reflect.getMetadata(key, target) !== undefined),
  );
  return isAddedByDecorator && guards.filter((guard) => guard === type).length === 1 && guards.at(-1) !== type;
}

/** Returns the guards of a handler or class, including inherited guards. */
function guardsOf(target: object): unknown[] {
  return (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as unknown[];
}

function isAccessTokenGuard(guard: unknown): boolean {
  return guard instanceof AccessTokenGuard || (guard as Type | undefined)?.prototype instanceof AccessTokenGuard;
}
