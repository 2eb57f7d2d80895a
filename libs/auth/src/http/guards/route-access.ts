import { SetMetadata, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants';

/** The metadata key of `@Public()`. Global guards of the application may read it too. */
export const IS_PUBLIC = 'nestjs-session-auth:public';

/** The metadata key of `@RequireRecentLogin()`. */
export const RECENT_LOGIN = 'nestjs-session-auth:recent-login';

/** The metadata key of `@OptionalAuth()`. */
export const OPTIONAL_AUTH = 'nestjs-session-auth:optional-auth';

/** The metadata key of `@AcceptsRefreshCookie()`. */
export const ACCEPTS_REFRESH_COOKIE = 'nestjs-session-auth:accepts-refresh-cookie';

/** Lets the refresh cookie authenticate a request, where the access cookie does not: at the logout alone. */
export const AcceptsRefreshCookie = (): MethodDecorator => SetMetadata(ACCEPTS_REFRESH_COOKIE, true);

/** The metadata key of the methods that `@RequireRecentLogin()` names; an empty list for any. */
export const RECENT_METHODS = 'nestjs-session-auth:recent-methods';

/** What requires an access token: `BearerAuthGuard`, and what extends it. */
export abstract class AccessTokenGuard implements CanActivate {
  abstract canActivate(context: ExecutionContext): Promise<boolean>;
}

/** What the decorators on one handler or class declare. */
export interface AccessDeclarations {
  /** `@Public()`. */
  readonly isPublic: boolean;
  /** `@OptionalAuth()`. */
  readonly isOptional: boolean;
  /** `@UseGuards(BearerAuthGuard)` or `@RequireRecentLogin()`. */
  readonly isGuarded: boolean;
}

/** Returns what is declared on this handler or class itself; what a class inherits does not count. */
export function accessDeclarations(target: object): AccessDeclarations {
  const own = (key: string): unknown => Reflect.getOwnMetadata(key, target);
  const guards = (own(GUARDS_METADATA) ?? []) as unknown[];
  // `@UseGuards()` adds to the guards that the class inherits.
  const inherited = guardsOf(Object.getPrototypeOf(target) as object);
  const added = guards.slice(inherited.length).filter(isAccessTokenGuard);
  const isOptional = own(OPTIONAL_AUTH) === true;
  // `@OptionalAuth()` adds a guard itself.
  const isGuarded = own(RECENT_LOGIN) !== undefined || added.length > (isOptional ? 1 : 0);
  return { isPublic: own(IS_PUBLIC) === true, isOptional, isGuarded };
}

type Route = Pick<ExecutionContext, 'getHandler' | 'getClass'>;

/**
 * Whether a route is open: the declaration on the handler counts, or else the one on its class. Call
 * it in a global guard of the application to let public routes pass, such as the library's login.
 */
export function isPublicRoute(context: Pick<ExecutionContext, 'getHandler' | 'getClass'>): boolean {
  const nearest = nearestDeclarations(context);
  return nearest !== undefined && nearest.isPublic && !nearest.isOptional && !nearest.isGuarded;
}

/** Whether a route needs no token, but checks one that is sent: the nearer declaration counts here too. */
export function isOptionalRoute(route: Route): boolean {
  const nearest = nearestDeclarations(route);
  return nearest !== undefined && nearest.isOptional && !nearest.isGuarded;
}

function nearestDeclarations(route: Route): AccessDeclarations | undefined {
  const declared = [route.getHandler(), route.getClass()].map(accessDeclarations);
  return declared.find(({ isPublic, isOptional, isGuarded }) => isPublic || isOptional || isGuarded);
}

/**
 * Whether the only guard of this class on a route is one that a decorator of the library brings, and a guard of the
 * application that extends it follows.
 */
export function isFollowedByOwnGuard(type: Type<AccessTokenGuard>, context: Route): boolean {
  const targets = [context.getClass(), context.getHandler()];
  const guards = targets.flatMap(guardsOf).filter(isAccessTokenGuard);
  const isBrought = targets.some((target) =>
    [RECENT_LOGIN, OPTIONAL_AUTH].some((key) => Reflect.getMetadata(key, target) !== undefined),
  );
  return isBrought && guards.filter((guard) => guard === type).length === 1 && guards.at(-1) !== type;
}

/** The guards of a handler or class, those that a class inherits among them. */
function guardsOf(target: object): unknown[] {
  return (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as unknown[];
}

function isAccessTokenGuard(guard: unknown): boolean {
  return guard instanceof AccessTokenGuard || (guard as Type | undefined)?.prototype instanceof AccessTokenGuard;
}
