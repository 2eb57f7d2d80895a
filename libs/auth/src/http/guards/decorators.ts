import {
  applyDecorators,
  createParamDecorator,
  SetMetadata,
  UseGuards,
  type CustomDecorator,
  type ExecutionContext,
} from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { assertMethods } from '../../domain/proofs';
import type { AuthSignalName, AuthSignals } from '../../domain/signals';
import { BearerAuthGuard } from './bearer-auth.guard';
import { callerOf } from './caller';
import { IS_PUBLIC, OPTIONAL_AUTH, RECENT_LOGIN, RECENT_METHODS } from './route-access';

/**
 * Opens a handler or a controller behind `BearerAuthGuard`. The nearer declaration wins: on a
 * handler it opens a route of a guarded controller; `@UseGuards(BearerAuthGuard)` on a handler
 * closes a route of a public controller. Subclasses of a public
 * controller are not public. Beside a guard or `@OptionalAuth()` on the same handler or class it stops the startup.
 */
export const Public = (): CustomDecorator<string> => SetMetadata(IS_PUBLIC, true);

/**
 * Opens a handler or a controller to calls without a token, and authenticates those with one: a valid
 * token gives the user as usual, none gives null for `@CurrentUser()`, `@CurrentSession()` and
 * `request.auth`, and an invalid one is refused with 401. An invalid cookie counts as none. Brings
 * `BearerAuthGuard` with it; the nearer declaration wins, as for `@Public()`. Beside a guard,
 * `@RequireRecentLogin()` or `@Public()` on the same handler or class it stops the startup.
 */
export const OptionalAuth = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(OPTIONAL_AUTH, true), UseGuards(BearerAuthGuard));

/**
 * Requires that the user has logged in, or confirmed their identity since, within this many seconds.
 * With `methods`, each of them must have been proved within that time: `['otp']`. Otherwise the
 * response is 403 with code `recent_login_required`. Applies to a handler or a whole controller, and
 * brings `BearerAuthGuard` with it. A guard on the same route that extends `BearerAuthGuard` is asked
 * if the `Authorization` header has no token.
 */
export const RequireRecentLogin = ({
  withinSeconds,
  methods,
}: {
  readonly withinSeconds: number;
  readonly methods?: readonly string[];
}): ClassDecorator & MethodDecorator => {
  if (!(withinSeconds > 0)) {
    throw new Error(`@RequireRecentLogin: withinSeconds is ${String(withinSeconds)}; write a number above 0.`);
  }
  if (methods !== undefined) assertMethods(methods);
  return applyDecorators(
    SetMetadata(RECENT_LOGIN, withinSeconds),
    SetMetadata(RECENT_METHODS, methods ?? []),
    UseGuards(BearerAuthGuard),
  );
};

/** Injects the session of the call: a `SessionInfo`; null without a token on a route with `@OptionalAuth()`. */
export const CurrentSession: () => ParameterDecorator = createParamDecorator(
  (_: unknown, context: ExecutionContext) => callerOf(context, '@CurrentSession()')?.principal.session ?? null,
);

/** Injects the application's user object, loaded on demand; null without a token on a route with `@OptionalAuth()`. */
export const CurrentUser: () => ParameterDecorator = createParamDecorator(
  (_: unknown, context: ExecutionContext) => callerOf(context, '@CurrentUser()')?.loadUser() ?? null,
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
