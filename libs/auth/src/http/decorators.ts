import {
  applyDecorators,
  createParamDecorator,
  type CustomDecorator,
  type ExecutionContext,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { AuthSignalName, AuthSignals } from '../history/signals';
import { assertMethods } from '../sessions/proofs';
import { BearerAuthGuard } from './bearer-auth.guard';
import { IS_PUBLIC, OPTIONAL_AUTH, RECENT_LOGIN, RECENT_METHODS } from './route-rules';
import { callerOf } from './transports';

/**
 * Lets calls of a handler or a controller pass `BearerAuthGuard` without a check. A decorator on the
 * handler takes precedence over a decorator on the controller: `@Public()` opens a route of a guarded
 * controller, and `@UseGuards(BearerAuthGuard)` guards a route of a public controller. Subclasses of a
 * public controller are not public.
 *
 * If the same handler or class also has `BearerAuthGuard`, `@RequireRecentLogin()` or
 * `@OptionalAuth()`, the application does not start.
 */
export const Public = (): CustomDecorator<string> => SetMetadata(IS_PUBLIC, true);

/**
 * Admits calls of a handler or a controller with and without a token. A valid token authenticates the
 * user as usual. Without a token, `@CurrentUser()`, `@CurrentSession()` and `request.auth` are null. An
 * invalid token is refused with 401, but an invalid cookie counts as no token. Includes
 * `BearerAuthGuard`. A decorator on the handler takes precedence, as for `@Public()`.
 *
 * If the same handler or class also has `BearerAuthGuard`, `@RequireRecentLogin()` or `@Public()`, the
 * application does not start.
 */
export const OptionalAuth = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(OPTIONAL_AUTH, true), UseGuards(BearerAuthGuard));

/**
 * Requires that the user logged in or confirmed their identity within the last `withinSeconds` seconds.
 * With `methods`, such as `['otp']`, the user must instead have proven each of these methods within that time.
 * Otherwise the response is 403 with the code `recent_login_required`. Applies to a handler or a whole
 * controller. Includes `BearerAuthGuard`. If the route also has a guard that extends `BearerAuthGuard`,
 * that guard decides about calls in which `BearerAuthGuard` finds no token, unless `BearerAuthGuard`
 * also applies otherwise, for example as a global guard.
 * @throws Error if `withinSeconds` is not greater than 0, or `methods` is not 1 to 8 valid names
 */
export const RequireRecentLogin = ({
  withinSeconds,
  methods,
}: {
  readonly withinSeconds: number;
  readonly methods?: readonly string[];
}): ClassDecorator & MethodDecorator => {
  if (!(withinSeconds > 0)) {
    throw new Error(
      `@RequireRecentLogin(): withinSeconds is ${String(withinSeconds)}. Set it to a number greater than 0.`,
    );
  }
  if (methods !== undefined) assertMethods(methods);
  return applyDecorators(
    SetMetadata(RECENT_LOGIN, withinSeconds),
    SetMetadata(RECENT_METHODS, methods ?? []),
    UseGuards(BearerAuthGuard),
  );
};

/**
 * Injects the session of the call as a `SessionInfo`, or null if `@OptionalAuth()` admitted the call
 * without authentication.
 */
export const CurrentSession: () => ParameterDecorator = createParamDecorator(
  (_: unknown, context: ExecutionContext) => callerOf(context, '@CurrentSession()')?.principal.session ?? null,
);

/**
 * Loads and injects your application's user object, or injects null if `@OptionalAuth()` admitted the call
 * without authentication.
 */
export const CurrentUser: () => ParameterDecorator = createParamDecorator(
  (_: unknown, context: ExecutionContext) => callerOf(context, '@CurrentUser()')?.loadUser() ?? null,
);

/**
 * Calls the method when the named signal is emitted: `@OnAuthSignal('token_reuse_detected')`. The compiler checks the
 * type of the method's parameter.
 */
export function OnAuthSignal<Name extends AuthSignalName>(
  name: Name,
): <Method extends (payload: AuthSignals[Name]) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void {
  return OnEvent(name);
}
