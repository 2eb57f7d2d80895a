/** A code, a name of an error or property, or an id as it may be logged; free text never is. (ASVS 16.4.1) */
export function loggable(word: unknown): string {
  return typeof word === 'string' && /^\w[\w.-]{0,63}$/.test(word) ? word : 'unknown';
}
