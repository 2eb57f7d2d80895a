/** How a name given at login is compared with the stored ones. */
export type NameMatching = 'exact' | 'insensitive';

/** The longest username, in characters. */
export const USERNAME_LENGTH = 255;

/** The form in which names are compared and counted: as given, or without regard to case and width. */
export function foldName(name: string, matching: NameMatching): string {
  return matching === 'exact' ? name : name.normalize('NFKC').toLowerCase();
}

/** A name that nobody has, safe to keep: people type passwords there. */
export function maskName(name: string): string {
  const [first = '', second = '', ...rest] = name;
  return first + second + '*'.repeat(Math.min(rest.length, 8));
}
