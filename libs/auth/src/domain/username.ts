/** How a name given at login is compared with the stored ones. */
export type NameMatching = 'exact' | 'insensitive';

/** The longest username, in characters. */
export const USERNAME_LENGTH = 255;

/**
 * Returns the form in which names are looked up, unique and counted. With `nameMatching: 'insensitive'`
 * it is NFKC in lower case; folding it again changes nothing.
 * @param matching `exact` returns the name as it is. Default: 'insensitive'.
 */
export function foldName(name: string, matching: NameMatching = 'insensitive'): string {
  // Normalized again: some letters with marks have a composed form in lower case only.
  return matching === 'exact' ? name : name.normalize('NFKC').toLowerCase().normalize('NFKC');
}

/** A name that nobody has, safe to keep: people type passwords there. */
export function maskName(name: string): string {
  const [first = '', second = '', ...rest] = name;
  return first + second + '*'.repeat(Math.min(rest.length, 8));
}
