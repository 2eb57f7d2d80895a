import type { ExecutionContext } from '@nestjs/common';
import type { AuthPrincipal } from '../services/authentication';
import { principalOf, type AuthRequest } from './request';

/** Who makes a call, and how the host's user object is had. */
export interface Bearer {
  readonly principal: AuthPrincipal;
  readonly loadUser: () => Promise<unknown>;
}

/** By the object that stands for a call, and within it by the handler. */
const BEARERS = new WeakMap<object, WeakMap<object, Bearer>>();

const CHECKED = new WeakMap<object, AuthPrincipal>();

/** The principal that the guard itself has put on a request; what others keep under that name proves nothing. */
export function checkedPrincipal(request: AuthRequest): AuthPrincipal | undefined {
  const principal = CHECKED.get(request);
  return principal === request.auth ? principal : undefined;
}

/** Keeps for the decorators of a handler who calls it. It is no cache: the guard asks the database at each call. */
export function keepBearer(context: ExecutionContext, bearer: Bearer, isOfMessage = false): void {
  if (context.getType() === 'http') {
    const request = context.switchToHttp().getRequest<AuthRequest>();
    request.auth = bearer.principal;
    request.loadUser = bearer.loadUser;
    CHECKED.set(request, bearer.principal);
    return;
  }
  const [call, slot] = keysOf(context);
  if (isOfMessage && context.getType() === 'ws' && call === context.getArgByIndex(0)) {
    throw new Error('Messages that bring a token of their own must be objects: a socket has many of them at a time.');
  }
  const ofCall = BEARERS.get(call) ?? new WeakMap<object, Bearer>();
  BEARERS.set(call, ofCall.set(slot, bearer));
}

/** Who makes this call. */
export function bearerOf(context: ExecutionContext): Bearer {
  if (context.getType() === 'http') {
    const request = context.switchToHttp().getRequest<AuthRequest>();
    return { principal: principalOf(request), loadUser: async () => request.loadUser?.() };
  }
  const [call, slot] = keysOf(context);
  const bearer = BEARERS.get(call)?.get(slot);
  if (!bearer) throw new Error('This handler has no BearerAuthGuard: there is nobody to tell of.');
  return bearer;
}

/**
 * A GraphQL operation has one bearer, of which fields are told that no guard stands before. Elsewhere each handler has its
 * own, so that one without the guard knows nobody. A socket outlives its messages: it stands for one only where the message
 * itself is no object.
 */
function keysOf(context: ExecutionContext): readonly [call: object, slot: object] {
  const args = context.getArgs<unknown[]>();
  if (context.getType<string>() === 'graphql') return [firstObject([args[2]]), BEARERS];
  const [first, second, ...others] = args;
  const inOrder = ['ws', 'rpc'].includes(context.getType()) ? [second, first] : [first, second, ...others];
  return [firstObject(inOrder), context.getHandler()];
}

function firstObject(values: readonly unknown[]): object {
  const found = values.find((value) => typeof value === 'object' && value !== null);
  if (!found) throw new Error('Nothing stands for this call by which its bearer could be kept.');
  return found;
}
