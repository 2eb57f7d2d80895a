import { createParamDecorator, SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import type { AuthSignalName, AuthSignals } from '../../domain/signals';
import { callerOf } from './caller';

/** The metadata key of `@Public()`. Global guards of the application may read it too. */
export const IS_PUBLIC = 'nestjs-session-auth:public';

/** Opens a handler or controller behind `BearerAuthGuard`. `@Public(false)` closes it again. */
export const Public = (isPublic: boolean = true): CustomDecorator<string> => SetMetadata(IS_PUBLIC, isPublic);

/**
 * Whether the handler, or else its class, is marked `@Public()`, as the library's login and refresh
 * are. Call it in a global guard of the application to let public routes pass.
 */
export function isPublicRoute(reflector: Reflector, context: ExecutionContext): boolean {
  return reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]) === true;
}

/** The metadata key of `@RequireRecentLogin()`. */
export const RECENT_LOGIN = 'nestjs-session-auth:recent-login';

/**
 * Requires that the user has logged in, or called `POST reauthenticate/`, within this many seconds.
 * Otherwise `BearerAuthGuard` responds with 403 and code `recent_login_required`. Applies to a
 * handler or a whole controller.
 */
export const RequireRecentLogin = ({ withinSeconds }: { readonly withinSeconds: number }): CustomDecorator<string> => {
  if (!(withinSeconds > 0)) {
    throw new Error(`@RequireRecentLogin: withinSeconds is ${String(withinSeconds)}; write a number above 0.`);
  }
  return SetMetadata(RECENT_LOGIN, withinSeconds);
};

/** Injects the session of the call: a `SessionInfo`. */
export const CurrentSession: () => ParameterDecorator = createParamDecorator(
  (_: unknown, context: ExecutionContext) => callerOf(context).principal.session,
);

/** Injects the application's user object, loaded on demand. */
export const CurrentUser: () => ParameterDecorator = createParamDecorator((_: unknown, context: ExecutionContext) =>
  callerOf(context).loadUser(),
);

/** Handles a signal: `@OnAuthSignal('token_reuse_detected')`. The parameter's type is checked. */
export function OnAuthSignal<Name extends AuthSignalName>(
  name: Name,
): <Method extends (payload: AuthSignals[Name]) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void {
  return OnEvent(name);
}
