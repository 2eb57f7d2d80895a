/**
 * The value of `request.user`. It also has the properties that `users.select` names, or the own
 * properties of the user that the `UserStore` returned, except the password hash.
 */
export interface RequestUser {
  readonly id: string | number | bigint;
  readonly username: string;
}

/** Copies a user without the password hash, because route handlers may send the user to clients. */
export function withoutHash(user: RequestUser & { readonly active: boolean }): RequestUser {
  const { id, username, active } = user;
  // These properties are set explicitly, because the spread does not copy the accessors of a class.
  const copy = { ...user, id, username, active };
  delete (copy as { passwordHash?: unknown }).passwordHash;
  return copy;
}
