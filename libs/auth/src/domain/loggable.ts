/**
 * Returns a code, name or id that is safe to log, or `unknown` for any other value. Free text is never logged. (ASVS
 * 16.4.1)
 */
export function loggable(word: unknown): string {
  return typeof word === 'string' && /^\w[\w.-]{0,63}$/.test(word) ? word : 'unknown';
}
