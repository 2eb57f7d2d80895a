/** How usernames are compared: byte by byte (`exact`), or folded by `foldName` (`insensitive`). */
export type NameMatching = 'exact' | 'insensitive';

/** The maximum length of a username, in characters. */
export const USERNAME_LENGTH = 255;

/**
 * Returns the folded form of a name: NFKC in lower case. With `nameMatching: 'insensitive'`, users are found by the
 * folded name, which must be unique, and failed logins with unknown names are counted by it. Folding a folded name
 * returns the same name.
 * @param matching `exact` returns the name unchanged. Default: `insensitive`
 */
export function foldName(name: string, matching: NameMatching = 'insensitive'): string {
  // Normalized twice, because some letters with marks have a composed form only in lower case.
  return matching === 'exact' ? name : name.normalize('NFKC').toLowerCase().normalize('NFKC');
}

/** Masks all but the first two characters of an unknown name, which may be a password in the wrong field. */
export function maskName(name: string): string {
  const [first = '', second = '', ...rest] = name;
  return first + second + '*'.repeat(Math.min(rest.length, 8));
}
