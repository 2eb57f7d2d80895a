import type { StoredUser, UserId } from './ports/accounts';
import { foldName, type NameMatching } from './username';

/**
 * Returns the user if the user's id, as text, is exactly the given id, otherwise null. A database may match a different
 * id: MySQL and MariaDB compare text with numbers, and a collation may ignore case.
 */
export function withExactId(user: StoredUser | null, id: UserId): StoredUser | null {
  return user && String(user.id) === String(id) ? user : null;
}

/**
 * Returns the user if the user's name equals the given name by the rules of `matching`, otherwise
 * null. A database may match a different name: a collation may ignore case, accents or trailing
 * spaces.
 */
export function withSameName(user: StoredUser | null, username: string, matching: NameMatching): StoredUser | null {
  return user && foldName(user.username, matching) === foldName(username, matching) ? user : null;
}

/**
 * Returns whether MySQL and MariaDB distinguish this id from all other ids. In the library's tables, they ignore
 * trailing spaces, so that the user `alice ` would see and end the sessions of `alice`.
 */
export function isDistinctId(id: string): boolean {
  return !id.endsWith(' ');
}
