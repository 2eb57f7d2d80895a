import type { ExecutionContext } from '@nestjs/common';
import type { AuthPrincipal } from '../../services/sessions/authentication';
import type { AuthRequest } from '../platform/request';
import { isOptionalRoute } from './route-access';

/** The authenticated user of a call. */
export interface Caller {
  readonly principal: AuthPrincipal;
  /** Loads the application's user object. */
  readonly loadUser: () => Promise<unknown>;
}

/** Lets a subclass add its private fields to an existing object. */
class PrivateFieldStamp {
  constructor(object: object) {
    return object;
  }
}

/** The request for which the guard verified a principal, and the function that loads the user. */
interface Verification {
  readonly request: object;
  readonly loadUser: () => Promise<unknown>;
}

/**
 * Marks a principal that the guard has verified, and stores the request of the principal. The mark is a
 * private field, which other code cannot set. A private field is faster than another property of the
 * request or an entry in a `WeakMap`.
 */
class VerifiedPrincipal extends PrivateFieldStamp {
  #verification: Verification;

  private constructor(principal: AuthPrincipal, verification: Verification) {
    super(principal);
    this.#verification = verification;
  }

  static mark(principal: AuthPrincipal, verification: Verification): void {
    if (#verification in principal) principal.#verification = verification;
    else new VerifiedPrincipal(principal, verification);
  }

  static verificationOf(principal: unknown): Verification | undefined {
    if (typeof principal !== 'object' || principal === null || !(#verification in principal)) return undefined;
    return principal.#verification;
  }
}

/**
 * Returns `request.auth` if the guard has verified this principal for this request. Other code may also
 * set `request.auth`.
 */
export function verifiedPrincipal(request: AuthRequest): AuthPrincipal | undefined {
  const { auth } = request;
  return auth && VerifiedPrincipal.verificationOf(auth)?.request === request ? auth : undefined;
}

/** Stores the caller of an HTTP request for the handler and for further guards. */
export function storeHttpCaller(request: AuthRequest, { principal, loadUser }: Caller): void {
  VerifiedPrincipal.mark(principal, { request, loadUser });
  request.auth = principal;
}

/** The callers, by the call and the slot that `keysOf` returns. Null if the caller is not authenticated. */
const CALLERS = new WeakMap<object, WeakMap<object, Caller | null>>();

/** The verified principals by context. All guards of a call share its context, and no other call has this context. */
const VERIFIED = new WeakMap<ExecutionContext, AuthPrincipal>();

/** Returns the principal that an earlier guard has verified for the same call, for transports other than HTTP. */
export function verifiedPrincipalOfCall(context: ExecutionContext): AuthPrincipal | undefined {
  return VERIFIED.get(context);
}

/**
 * Stores the caller of a call over a transport other than HTTP.
 * @param isFromMessage whether a `TokenSource` found the token, which may be in the message
 */
export function storeCaller(context: ExecutionContext, caller: Caller, isFromMessage: boolean): void {
  const [call, slot] = keysOf(context);
  if (isFromMessage && context.getType() === 'ws' && call === context.getArgByIndex(0)) {
    throw new Error('If a tokenSource finds the token of a message, the message must be an object. Send an object.');
  }
  callersOf(call).set(slot, caller);
  VERIFIED.set(context, caller.principal);
}

/** Records that the caller of an optional route is not authenticated, for transports other than HTTP. */
export function storeAnonymous(context: ExecutionContext): void {
  const [call, slot] = keysOf(context);
  const callers = callersOf(call);
  // Another query of the same GraphQL operation may already have stored a caller.
  if (slot !== CALLERS || !callers.get(slot)) callers.set(slot, null);
}

function callersOf(call: object): WeakMap<object, Caller | null> {
  const callers = CALLERS.get(call) ?? new WeakMap<object, Caller | null>();
  CALLERS.set(call, callers);
  return callers;
}

/**
 * Returns the caller, or null if an optional route or an optional GraphQL query admitted the call without
 * authentication. Over HTTP, the principal is `request.auth`, which the application's guard may have set.
 * @param decorator the name of the decorator, for error messages
 * @throws Error if there is no caller, and neither the route nor the GraphQL query is optional
 */
export function callerOf(context: ExecutionContext, decorator: string): Caller | null {
  if (context.getType() === 'http') {
    const request = context.switchToHttp().getRequest<AuthRequest>();
    const { auth: principal } = request;
    if (!principal) return anonymousCaller(context, decorator);
    // The loader of a verified principal takes precedence, because `request.loadUser` may load another user.
    const loadUser = VerifiedPrincipal.verificationOf(principal)?.loadUser ?? request.loadUser;
    return { principal, loadUser: loadUser ?? noLoader };
  }
  const [call, slot] = keysOf(context);
  const caller = CALLERS.get(call)?.get(slot);
  // The fields of an optional GraphQL query do not have `@OptionalAuth()` themselves.
  return caller === undefined ? anonymousCaller(context, decorator) : caller;
}

function anonymousCaller(context: ExecutionContext, decorator: string): null {
  if (isOptionalRoute(context)) return null;
  const isHttp = context.getType() === 'http';
  throw new Error(
    `${decorator} found no authenticated user in ${context.getClass().name}.${context.getHandler().name}: no guard ` +
      `authenticated the call${isHttp ? ', or a replacement of BearerAuthGuard did not set `request.auth`' : ''}. ` +
      'Add @UseGuards(BearerAuthGuard) to the handler or its class. If the route admits calls without a token, use ' +
      '@OptionalAuth() instead of @Public(). The value is null for such calls.',
  );
}

function noLoader(): never {
  throw new Error(
    '`@CurrentUser()` cannot load the user, because `request.auth` was set without `request.loadUser`. Set both in ' +
      'your guard.',
  );
}

/**
 * Returns the keys under which the caller of a call is stored. A GraphQL operation has one caller, which its unguarded
 * fields can also read. Over other transports, each handler has its own caller. A call to a gateway
 * is identified by its message if the message is an object, and otherwise by its socket. A call to
 * a microservice is identified by its context.
 */
function keysOf(context: ExecutionContext): readonly [call: object, slot: object] {
  const args = context.getArgs<unknown[]>();
  if (context.getType<string>() === 'graphql') return [firstObject([args[2]]), CALLERS];
  const [first, second, ...others] = args;
  const inOrder = ['ws', 'rpc'].includes(context.getType()) ? [second, first] : [first, second, ...others];
  return [firstObject(inOrder), context.getHandler()];
}

function firstObject(values: readonly unknown[]): object {
  const found = values.find((value) => typeof value === 'object' && value !== null);
  if (!found)
    throw new Error(
      'The caller cannot be stored, because no argument of the handler is an object. Send an object as the message.',
    );
  return found;
}
