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
import { assertScopes } from '../sessions/api-keys';
import { assertMethods } from '../sessions/session';
import { BearerAuthGuard } from './bearer-auth.guard';
import { addTo, API_KEY_SCOPES, IS_PUBLIC, OPTIONAL_AUTH, RECENT_LOGIN, REQUIRED_ROLES } from './route-rules';
import { callerOf, type CurrentCaller } from './callers';
import { exceptionFor } from './wire-format';

/**
 * Lets calls of a handler or a controller pass `BearerAuthGuard` without a check. A decorator on the handler takes
 * precedence. Subclasses of a public controller are not public. The application does not start if the handler or class
 * also has `BearerAuthGuard`, `@RequireRecentLogin()`, `@RequireRoles()` or `@OptionalAuth()`, or if the class has
 * `@RequireRecentLogin()` or `@RequireRoles()`.
 */
export const Public = (): CustomDecorator<string> => SetMetadata(IS_PUBLIC, true);

/**
 * Admits calls of a handler or a controller with and without a token. Without one, `request.auth` and the injected
 * principal, user and session are null. An invalid token is refused with 401, but an invalid cookie counts as no token.
 * Includes `BearerAuthGuard`. Precedence and contradictions are those of `@Public()`.
 */
export const OptionalAuth = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(OPTIONAL_AUTH, true), UseGuards(BearerAuthGuard));

/**
 * Requires that the user logged in or confirmed their identity within the last `withinSeconds` seconds, or proved each of
 * the `methods`, such as `['otp']`, within that time. Otherwise the response is 403 `recent_login_required`. Includes
 * `BearerAuthGuard`. The requirements of a handler, its controller and the superclasses of the controller add up.
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
    throw new Error(`@RequireRecentLogin(): withinSeconds is ${String(withinSeconds)}. Set a number above 0.`);
  }
  if (methods !== undefined) assertMethods(methods);
  const requirement = { withinSeconds, methods: methods ?? [] };
  return applyDecorators(addTo(RECENT_LOGIN, requirement), UseGuards(BearerAuthGuard));
};

/**
 * Requires that the user has any of these roles. Otherwise the response is 403 `insufficient_role`. Includes
 * `BearerAuthGuard`. The requirements of a handler, its controller and the superclasses of the controller add up. The
 * roles are those of the option `users.roles`, or of the `UserStore`.
 * @throws Error if there is no role, or a role is not a text
 */
export const RequireRoles = (...roles: readonly string[]): ClassDecorator & MethodDecorator => {
  if (roles.length === 0 || !roles.every((role) => typeof role === 'string' && role !== '')) {
    throw new Error(`@RequireRoles() received ${JSON.stringify(roles)}. Pass the names of roles, such as 'admin'.`);
  }
  return applyDecorators(addTo(REQUIRED_ROLES, roles), UseGuards(BearerAuthGuard));
};

/**
 * Also admits calls of a handler or a controller with an API key that has all of these scopes. Without one of them, the
 * response is 403 `insufficient_scope`. Without this decorator, it is 403 `api_key_not_allowed`. Includes
 * `BearerAuthGuard`, and can be combined with `@OptionalAuth()`. A decorator on the handler replaces that of the controller.
 * Subclasses of the controller do not inherit it. Scopes do not limit calls with a session.
 * @throws Error if there is no scope, or a name is invalid: see `NewApiKey`
 */
export const AllowApiKey = (...scopes: readonly string[]): ClassDecorator & MethodDecorator => {
  assertScopes(scopes);
  return applyDecorators(addTo(API_KEY_SCOPES, ...scopes), UseGuards(BearerAuthGuard));
};

function injectCaller(name: string, read: (caller: CurrentCaller) => unknown): () => ParameterDecorator {
  return createParamDecorator(async (_: unknown, context: ExecutionContext) => {
    const caller = callerOf(context, name);
    try {
      return caller && (await read(caller));
    } catch (error) {
      throw exceptionFor(context, error);
    }
  });
}

/** Injects the `AuthPrincipal` of the call, or null if `@OptionalAuth()` admitted the call without a token. */
export const CurrentPrincipal: () => ParameterDecorator = injectCaller('@CurrentPrincipal()', (it) => it.principal);

/** Reads and injects the session as a `SessionInfo`, with one query, or injects null like `@CurrentPrincipal()`. */
export const CurrentSession: () => ParameterDecorator = injectCaller('@CurrentSession()', (it) => it.loadSession());

/** Loads and injects your application's user object, once per call, or injects null like `@CurrentPrincipal()`. */
export const CurrentUser: () => ParameterDecorator = injectCaller('@CurrentUser()', (it) => it.loadUser());

/** Calls the method, whose parameter the compiler checks, for a signal: `@OnAuthSignal('token_reuse_detected')`. */
export function OnAuthSignal<Name extends AuthSignalName>(
  name: Name,
): <Method extends (payload: AuthSignals[Name]) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void {
  return OnEvent(name);
}
