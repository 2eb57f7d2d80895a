import type { StoredUser, UserId } from './ports/accounts';
import { foldName, type NameMatching } from './username';

/**
 * The user, if its id is exactly this one. A database may take one id for another: MariaDB compares text with numbers, and
 * collations ignore case.
 */
export function withExactId(user: StoredUser | null, id: UserId): StoredUser | null {
  return user && String(user.id) === String(id) ? user : null;
}

/** The user, if its name is this one. A database may take another for it: collations ignore case, accents, trailing spaces. */
export function withSameName(user: StoredUser | null, username: string, matching: NameMatching): StoredUser | null {
  return user && foldName(user.username, matching) === foldName(username, matching) ? user : null;
}
