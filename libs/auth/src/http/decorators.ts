import { createParamDecorator, SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import type { AuthSignalName, AuthSignals } from '../domain/signals';
import { bearerOf } from './bearer';

/** The metadata key of `@Public()`; a host's own global guard may look at it too. */
export const IS_PUBLIC = 'nestjs-session-auth:public';

/** Opens a handler, or all of a controller, that stands behind `BearerAuthGuard`; `@Public(false)` closes one again. */
export const Public = (isPublic: boolean = true): CustomDecorator<string> => SetMetadata(IS_PUBLIC, isPublic);

/**
 * Whether the handler, or else its class, is marked `@Public()`: the library's login and refresh are. A global guard of the
 * host's own lets them pass by it.
 */
export function isPublic(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]) === true;
}

/** The metadata key of `@RequireRecentLogin()`. */
export const RECENT_LOGIN = 'nestjs-session-auth:recent-login';

/**
 * Lets a handler, or all of a controller, run only for a user who has proven who they are within so many seconds: by the
 * login, or by `POST reauthenticate/`. Otherwise `BearerAuthGuard` answers 403 with the code `recent_login_required`.
 */
export const RequireRecentLogin = ({ withinSeconds }: { readonly withinSeconds: number }): CustomDecorator<string> => {
  if (!(withinSeconds > 0)) throw new Error('@RequireRecentLogin needs withinSeconds above 0.');
  return SetMetadata(RECENT_LOGIN, withinSeconds);
};

/** The session of the call: a `Session`. */
export const CurrentSession: () => ParameterDecorator = createParamDecorator(
  (_: unknown, context: ExecutionContext) => bearerOf(context).principal.session,
);

/** The host's user object, loaded when it is asked for. */
export const CurrentUser: () => ParameterDecorator = createParamDecorator((_: unknown, context: ExecutionContext) =>
  bearerOf(context).loadUser(),
);

/** A handler of one of the library's signals: `@OnAuthSignal('token_reuse_detected')`. Its parameter is checked. */
export function OnAuthSignal<Name extends AuthSignalName>(
  name: Name,
): <Method extends (payload: AuthSignals[Name]) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void {
  return OnEvent(name);
}
