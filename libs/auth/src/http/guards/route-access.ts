import { SetMetadata, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants';

/** The metadata key of `@Public()`. Global guards of the application may read it too. */
export const IS_PUBLIC = 'nestjs-session-auth:public';

/** The metadata key of `@RequireRecentLogin()`. */
export const RECENT_LOGIN = 'nestjs-session-auth:recent-login';

/** The metadata key of `@AcceptsRefreshCookie()`. */
export const ACCEPTS_REFRESH_COOKIE = 'nestjs-session-auth:accepts-refresh-cookie';

/** Lets the refresh cookie authenticate a request, where the access cookie does not: at the logout alone. */
export const AcceptsRefreshCookie = (): MethodDecorator => SetMetadata(ACCEPTS_REFRESH_COOKIE, true);

/** What requires an access token: `BearerAuthGuard`, and what extends it. */
export abstract class AccessTokenGuard implements CanActivate {
  abstract canActivate(context: ExecutionContext): Promise<boolean>;
}

/** What the decorators on one handler or class declare. */
export interface AccessDeclarations {
  /** `@Public()`. */
  readonly isPublic: boolean;
  /** `@UseGuards(BearerAuthGuard)` or `@RequireRecentLogin()`. */
  readonly isGuarded: boolean;
}

/** Returns what is declared on this handler or class itself; what a class inherits does not count. */
export function accessDeclarations(target: object): AccessDeclarations {
  const own = (key: string): unknown => Reflect.getOwnMetadata(key, target);
  const guards = (own(GUARDS_METADATA) ?? []) as unknown[];
  // `@UseGuards()` adds to the guards that the class inherits.
  const inherited = guardsOf(Object.getPrototypeOf(target) as object);
  const isGuarded = own(RECENT_LOGIN) !== undefined || guards.slice(inherited.length).some(isAccessTokenGuard);
  return { isPublic: own(IS_PUBLIC) === true, isGuarded };
}

/**
 * Whether a route is open: the declaration on the handler counts, or else the one on its class. Call
 * it in a global guard of the application to let public routes pass, such as the library's login.
 */
export function isPublicRoute(context: Pick<ExecutionContext, 'getHandler' | 'getClass'>): boolean {
  const declared = [context.getHandler(), context.getClass()].map(accessDeclarations);
  const nearest = declared.find(({ isPublic, isGuarded }) => isPublic || isGuarded);
  return nearest !== undefined && nearest.isPublic && !nearest.isGuarded;
}

/**
 * Whether the only guard of this class on a route is the one that `@RequireRecentLogin()` brings, and a guard of the
 * application that extends it follows.
 */
export function isFollowedByOwnGuard(
  type: Type<AccessTokenGuard>,
  context: Pick<ExecutionContext, 'getHandler' | 'getClass'>,
): boolean {
  const targets = [context.getClass(), context.getHandler()];
  const guards = targets.flatMap(guardsOf).filter(isAccessTokenGuard);
  const isBrought = targets.some((target) => Reflect.getMetadata(RECENT_LOGIN, target) !== undefined);
  return isBrought && guards.filter((guard) => guard === type).length === 1 && guards.at(-1) !== type;
}

/** The guards of a handler or class, those that a class inherits among them. */
function guardsOf(target: object): unknown[] {
  return (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as unknown[];
}

function isAccessTokenGuard(guard: unknown): boolean {
  return guard instanceof AccessTokenGuard || (guard as Type | undefined)?.prototype instanceof AccessTokenGuard;
}
