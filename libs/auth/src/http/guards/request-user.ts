import type { AuthPrincipal } from '../../services/sessions/authentication';
import { requestUserOf } from '../../services/sessions/authentication';

/**
 * The users that the library has stored in `request.user`. The library replaces only these users, because a user from
 * another source belongs to the application. Replacing is necessary because many GraphQL operations over a socket
 * share one request.
 */
const STORED = new WeakSet<object>();

/**
 * Sets `request.user`, unless other code has set it or the principal has no user. Guards of the
 * application, such as the `RolesGuard` in Nest's documentation, read this property.
 */
export function storeRequestUser(request: object, principal: AuthPrincipal): void {
  const user = requestUserOf(principal);
  if (user === null || isSetElsewhere(request)) return;
  STORED.add(user);
  // Has no effect if the application defines an accessor without a setter.
  Reflect.set(request, 'user', user);
}

/** Removes `request.user` if the library has set it, because a later operation on the same socket may have no user. */
export function removeRequestUser(request: object): void {
  if (!isSetElsewhere(request)) Reflect.set(request, 'user', undefined);
}

function isSetElsewhere(request: object): boolean {
  const { user } = request as { readonly user?: unknown };
  return user !== undefined && user !== null && !(typeof user === 'object' && STORED.has(user));
}
