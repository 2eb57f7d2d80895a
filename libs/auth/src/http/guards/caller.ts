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
class ReturnOverride {
  constructor(object: object) {
    return object;
  }
}

/** Of which request the guard has verified the principal, and how its user is loaded. */
interface Verification {
  readonly request: object;
  readonly loadUser: () => Promise<unknown>;
}

/**
 * Marks a principal that the guard has verified with its request. The mark is a private field, which no other code can
 * set. It costs less than another property of the request or an entry in a `WeakMap`.
 */
class VerifiedPrincipal extends ReturnOverride {
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

/** Returns the principal that the guard has verified. `request.auth` alone proves nothing. */
export function verifiedPrincipal(request: AuthRequest): AuthPrincipal | undefined {
  const { auth } = request;
  return auth && VerifiedPrincipal.verificationOf(auth)?.request === request ? auth : undefined;
}

/** Stores the caller of an HTTP request, for its handler and for further guards on it. */
export function storeHttpCaller(request: AuthRequest, { principal, loadUser }: Caller): void {
  VerifiedPrincipal.mark(principal, { request, loadUser });
  request.auth = principal;
}

/** By the object that identifies a call, and within it by the handler; null for nobody. */
const CALLERS = new WeakMap<object, WeakMap<object, Caller | null>>();

/** By the context, which all guards of one call of a handler share, and no other call. */
const VERIFIED = new WeakMap<ExecutionContext, AuthPrincipal>();

/** Returns the principal that an earlier guard has verified for this very call, over another transport than HTTP. */
export function verifiedPrincipalOfCall(context: ExecutionContext): AuthPrincipal | undefined {
  return VERIFIED.get(context);
}

/** Stores the caller over another transport. `isFromMessage`: the message brought the token. */
export function storeCaller(context: ExecutionContext, caller: Caller, isFromMessage: boolean): void {
  const [call, slot] = keysOf(context);
  if (isFromMessage && context.getType() === 'ws' && call === context.getArgByIndex(0)) {
    throw new Error('Messages with their own token must be objects: one socket carries several at a time.');
  }
  callersOf(call).set(slot, caller);
  VERIFIED.set(context, caller.principal);
}

/** Stores that nobody calls an optional route over another transport, whoever the same socket has been before. */
export function storeNobody(context: ExecutionContext): void {
  const [call, slot] = keysOf(context);
  const callers = callersOf(call);
  // Another query of the same GraphQL operation, which has the same token, may have found it valid just before.
  if (slot !== CALLERS || !callers.get(slot)) callers.set(slot, null);
}

function callersOf(call: object): WeakMap<object, Caller | null> {
  const callers = CALLERS.get(call) ?? new WeakMap<object, Caller | null>();
  CALLERS.set(call, callers);
  return callers;
}

/**
 * Returns the caller of a call; null for nobody, on an optional route alone. Over HTTP it is `request.auth`, which a
 * guard of the application may have set.
 * @param decorator what asks for it
 */
export function callerOf(context: ExecutionContext, decorator: string): Caller | null {
  if (context.getType() === 'http') {
    const request = context.switchToHttp().getRequest<AuthRequest>();
    const { auth: principal } = request;
    if (!principal) return nobody(context, decorator);
    // The loader of a verified principal comes first: another guard may have left that of another user.
    const loadUser = VerifiedPrincipal.verificationOf(principal)?.loadUser ?? request.loadUser;
    return { principal, loadUser: loadUser ?? noLoader };
  }
  const [call, slot] = keysOf(context);
  const caller = CALLERS.get(call)?.get(slot);
  // The fields of an optional GraphQL query are not declared so themselves.
  return caller === undefined ? nobody(context, decorator) : caller;
}

function nobody(context: ExecutionContext, decorator: string): null {
  if (isOptionalRoute(context)) return null;
  const isHttp = context.getType() === 'http';
  throw new Error(
    `${decorator} found no authenticated user in ${context.getClass().name}.${context.getHandler().name}: no guard ` +
      `has run${isHttp ? ', or a replacement of BearerAuthGuard did not set `request.auth`' : ''}. ` +
      'Add @UseGuards(BearerAuthGuard) to the handler or its class; a @Public() route has no user, and one with @OptionalAuth() may have none.',
  );
}

function noLoader(): never {
  throw new Error('`request.auth` was replaced. For `@CurrentUser()`, set `request.loadUser` with it.');
}

/**
 * A GraphQL operation has one caller, which its unguarded fields read too. Elsewhere each handler
 * has its own. A socket outlives its messages: it identifies one only if that is not an object.
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
  if (!found) throw new Error('The caller cannot be stored: no argument of this call is an object.');
  return found;
}
