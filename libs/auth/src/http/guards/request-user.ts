import type { AuthPrincipal } from '../../services/sessions/authentication';
import { requestUserOf } from '../../services/sessions/authentication';

/** The users that were stored here. A socket has one request for many GraphQL operations: the later one is true. */
const STORED = new WeakSet<object>();

/** Sets `request.user` for guards of the application, such as Nest's documented RolesGuard, unless other code has set it. */
export function storeRequestUser(request: object, principal: AuthPrincipal): void {
  const user = requestUserOf(principal);
  if (user === null || isSetElsewhere(request)) return;
  STORED.add(user);
  // An accessor of the application without a setter keeps its value.
  Reflect.set(request, 'user', user);
}

/** Removes it where a later operation on the same socket has no user. */
export function removeRequestUser(request: object): void {
  if (!isSetElsewhere(request)) Reflect.set(request, 'user', undefined);
}

function isSetElsewhere(request: object): boolean {
  const { user } = request as { readonly user?: unknown };
  return user !== undefined && user !== null && !(typeof user === 'object' && STORED.has(user));
}
