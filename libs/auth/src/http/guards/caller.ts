import type { ExecutionContext } from '@nestjs/common';
import type { AuthPrincipal } from '../../services/sessions/authentication';
import { principalOf, type AuthRequest } from '../platform/request';

/** The authenticated user of a call. */
export interface Caller {
  readonly principal: AuthPrincipal;
  /** Loads the application's user object. */
  readonly loadUser: () => Promise<unknown>;
}

/** Makes the fields of a subclass fields of an existing object. */
class Existing {
  constructor(object: object) {
    return object;
  }
}

/**
 * Marks a request with its verified principal. Other code can neither copy nor set a private field,
 * which costs less than an entry in a `WeakMap`.
 */
class VerifiedRequest extends Existing {
  #principal: AuthPrincipal;

  private constructor(request: object, principal: AuthPrincipal) {
    super(request);
    this.#principal = principal;
  }

  static mark(request: object, principal: AuthPrincipal): void {
    if (#principal in request) request.#principal = principal;
    else new VerifiedRequest(request, principal);
  }

  static principalOf(request: object): AuthPrincipal | undefined {
    return #principal in request ? request.#principal : undefined;
  }
}

/** Returns the principal that the guard has verified. `request.auth` alone proves nothing. */
export function verifiedPrincipal(request: AuthRequest): AuthPrincipal | undefined {
  const principal = VerifiedRequest.principalOf(request);
  return principal === request.auth ? principal : undefined;
}

/** Stores the caller of an HTTP request. This is no cache: each request is checked. */
export function storeHttpCaller(request: AuthRequest, { principal, loadUser }: Caller): void {
  request.auth = principal;
  request.loadUser = loadUser;
  VerifiedRequest.mark(request, principal);
}

/** By the object that identifies a call, and within it by the handler. */
const CALLERS = new WeakMap<object, WeakMap<object, Caller>>();

/** Stores the caller over another transport. `isFromMessage`: the message brought the token. */
export function storeCaller(context: ExecutionContext, caller: Caller, isFromMessage: boolean): void {
  const [call, slot] = keysOf(context);
  if (isFromMessage && context.getType() === 'ws' && call === context.getArgByIndex(0)) {
    throw new Error('Messages with their own token must be objects: one socket carries several at a time.');
  }
  const callers = CALLERS.get(call) ?? new WeakMap<object, Caller>();
  CALLERS.set(call, callers.set(slot, caller));
}

/** Returns the caller that the guard has stored. */
export function callerOf(context: ExecutionContext): Caller {
  if (context.getType() === 'http') {
    const request = context.switchToHttp().getRequest<AuthRequest>();
    return { principal: principalOf(request), loadUser: async () => request.loadUser?.() };
  }
  const [call, slot] = keysOf(context);
  const caller = CALLERS.get(call)?.get(slot);
  if (!caller) throw new Error('No authenticated user. Is `BearerAuthGuard` applied to this handler?');
  return caller;
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
