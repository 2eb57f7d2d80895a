import { type ExecutionContext, SetMetadata, type Type } from '@nestjs/common';
import { type ModulesContainer } from '@nestjs/core';
import { classesOf, guardsOf, handlersOf, ignoresGlobalGuards, ignoresGuards, opensStream } from './platform';

/** The metadata key of `@Public()`. */
export const IS_PUBLIC = 'nestjs-session-auth:public';

/** The metadata key of `@OptionalAuth()`. */
export const OPTIONAL_AUTH = 'nestjs-session-auth:optional-auth';

/** The metadata key of `@RequireRecentLogin()`: a list of `RecentLogin`, with those of superclasses. */
export const RECENT_LOGIN = 'nestjs-session-auth:recent-login';

/** The metadata key of `@RequireRoles()`: a list of lists of roles, with those of superclasses. */
export const REQUIRED_ROLES = 'nestjs-session-auth:required-roles';

/** The metadata key of `@AllowApiKey()`: a list of scopes, which subclasses do not inherit. */
export const API_KEY_SCOPES = 'nestjs-session-auth:api-key-scopes';

/** A requirement of `@RequireRecentLogin()`. An empty list of methods means any method. */
interface RecentLogin {
  readonly withinSeconds: number;
  readonly methods: readonly string[];
}

const ACCEPTS_REFRESH_COOKIE = 'nestjs-session-auth:accepts-refresh-cookie';

/** Lets the refresh cookie authenticate `POST logout/` if the access cookie does not. */
export const AcceptsRefreshCookie = (): MethodDecorator => SetMetadata(ACCEPTS_REFRESH_COOKIE, true);

const IS_ACCESS_GUARD = 'nestjs-session-auth:access-guard';

/** Marks `BearerAuthGuard`, so that this file can recognize it among the guards of a route. */
export const AccessGuard = (): ClassDecorator => SetMetadata(IS_ACCESS_GUARD, true);

type Route = Pick<ExecutionContext, 'getHandler' | 'getClass'>;

type Access = 'public' | 'optional' | 'guarded';

/** Returns the access decorators of a handler or class itself. On one level, the first of them takes precedence. */
function declared(target: object): Access[] {
  const own = (key: string): boolean => Reflect.getOwnMetadata(key, target) !== undefined;
  // `@UseGuards()` adds to the guards that the class inherits.
  const inherited = guardsOf(Object.getPrototypeOf(target) as object);
  const added = guardsOf(target).slice(inherited.length).filter(isAccessGuard);
  const isOptional = own(OPTIONAL_AUTH);
  const allowsKeys = own(API_KEY_SCOPES);
  // `@OptionalAuth()` and `@AllowApiKey()` themselves add one guard each.
  const isGuarded =
    own(RECENT_LOGIN) ||
    own(REQUIRED_ROLES) ||
    (allowsKeys && !isOptional) ||
    added.length > Number(isOptional) + Number(allowsKeys);
  return [
    ...(isGuarded ? (['guarded'] as const) : []),
    ...(isOptional ? (['optional'] as const) : []),
    ...(own(IS_PUBLIC) ? (['public'] as const) : []),
  ];
}

function isAccessGuard(guard: unknown): boolean {
  const type = typeof guard === 'function' ? guard : (guard as object).constructor;
  return Reflect.getMetadata(IS_ACCESS_GUARD, type) === true;
}

/** Returns the access of a route. The declaration on its handler takes precedence over that on its class. */
function accessOf(route: Route): Access | undefined {
  return declared(route.getHandler())[0] ?? declared(route.getClass())[0];
}

/** Returns whether a route is public by `@Public()`, such as the library's login. Call it in your own global guard. */
export function isPublicRoute(context: Pick<ExecutionContext, 'getHandler' | 'getClass'>): boolean {
  return accessOf(context) === 'public';
}

export function isOptionalRoute(route: Route): boolean {
  return accessOf(route) === 'optional';
}

/** What `BearerAuthGuard` requires on a route. */
export interface RouteRules {
  readonly isPublic: boolean;
  readonly isOptional: boolean;
  /** The requirements of the handler and of its class. All of them must be met. */
  readonly recentLogins: readonly RecentLogin[];
  /** Lists of roles. The user must have one of each list. */
  readonly requiredRoles: readonly (readonly string[])[];
  /** The scopes that an API key must have, from the handler or else its class. Null if keys are not accepted. */
  readonly apiKeyScopes: readonly string[] | null;
  readonly acceptsRefreshCookie: boolean;
  readonly opensStream: boolean;
}

export function rulesOf(route: Route): RouteRules {
  const targets = [route.getClass(), route.getHandler()];
  // The check at startup does not find the classes of providers with `useFactory`.
  const access = targets.some(hasRequirement) ? 'guarded' : accessOf(route);
  return {
    isPublic: access === 'public',
    isOptional: access === 'optional',
    recentLogins: targets.flatMap((target) => requirementsOf<RecentLogin>(RECENT_LOGIN, target)),
    requiredRoles: targets.flatMap((target) => requirementsOf<readonly string[]>(REQUIRED_ROLES, target)),
    apiKeyScopes: scopesOf(route.getHandler()) ?? scopesOf(route.getClass()),
    acceptsRefreshCookie: Reflect.getMetadata(ACCEPTS_REFRESH_COOKIE, route.getHandler()) === true,
    opensStream: opensStream(route.getHandler()),
  };
}

/** Returns the requirements of a handler, or of a class and its superclasses. */
function requirementsOf<T>(key: string, target: object): readonly T[] {
  return (Reflect.getMetadata(key, target) as readonly T[] | undefined) ?? [];
}

function scopesOf(target: object): readonly string[] | null {
  return (Reflect.getOwnMetadata(API_KEY_SCOPES, target) as readonly string[] | undefined) ?? null;
}

function hasRequirement(target: object): boolean {
  return [RECENT_LOGIN, REQUIRED_ROLES].some((key) => requirementsOf(key, target).length > 0);
}

/** Returns a decorator that adds to a list of a handler or class. Lists are inherited, except those of scopes. */
export function addTo(key: string, ...added: readonly unknown[]): ClassDecorator & MethodDecorator {
  return (target: object, _?: string | symbol, method?: PropertyDescriptor): void => {
    const decorated = (method?.value as object | undefined) ?? target;
    const list = key === API_KEY_SCOPES ? (scopesOf(decorated) ?? []) : requirementsOf(key, decorated);
    Reflect.defineMetadata(key, [...list, ...added], decorated);
  };
}

/**
 * Returns the names of handlers and classes with two access decorators on one level, or with `@Public()` or
 * `@OptionalAuth()` beneath `@RequireRecentLogin()` or `@RequireRoles()` on the class.
 */
export function contradictoryRoutes(modules: ModulesContainer): readonly string[] {
  return classesOf(modules).flatMap((type) => {
    const isRestricted = hasRequirement(type);
    const isContradictory = (target: object): boolean => {
      const [access, ...others] = declared(target);
      return others.length > 0 || (isRestricted && access !== undefined && access !== 'guarded');
    };
    const handlers = handlersOf(type).filter(({ handler }) => isContradictory(handler));
    return [...(isContradictory(type) ? [type.name] : []), ...handlers.map(({ name }) => `${type.name}.${name}`)];
  });
}

/** Returns the names of GraphQL fields that the requirements of the field or of its class do not protect. */
export function unprotectedFields(modules: ModulesContainer): readonly string[] {
  const isRestricted = (target: object): boolean => hasRequirement(target) || scopesOf(target) !== null;
  return handlersWhere(
    modules,
    (handler, type) => (isRestricted(handler) || isRestricted(type)) && ignoresGuards(handler, modules),
  );
}

/** Returns the names of the messages of gateways that rely on the global guard, although Nest ignores it. */
export function unprotectedMessages(modules: ModulesContainer): readonly string[] {
  const isOpen = (handler: object, type: Type): boolean => !declared(handler)[0] && !declared(type)[0];
  return handlersWhere(modules, (handler, type) => isOpen(handler, type) && ignoresGlobalGuards(handler));
}

function handlersWhere(
  modules: ModulesContainer,
  accepts: (handler: object, type: Type) => boolean,
): readonly string[] {
  return classesOf(modules).flatMap((type) => {
    const found = handlersOf(type).filter(({ handler }) => accepts(handler, type));
    return found.map(({ name }) => `${type.name}.${name}`);
  });
}
