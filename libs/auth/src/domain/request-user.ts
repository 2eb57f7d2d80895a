/** What `request.user` holds of a user, besides the properties that the application selects. */
export interface RequestUser {
  readonly id: string | number | bigint;
  readonly username: string;
}

/** A copy of what a user store returned, without the hash: handlers may return the user as it is. */
export function withoutHash(user: RequestUser & { readonly active: boolean }): RequestUser {
  const { id, username, active } = user;
  // Named again: those of a class may be accessors, which are not copied.
  const copy = { ...user, id, username, active };
  delete (copy as { passwordHash?: unknown }).passwordHash;
  return copy;
}
