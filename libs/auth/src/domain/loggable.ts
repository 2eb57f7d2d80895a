/** An error's code or name as it may be logged; its text never is. (ASVS 16.4.1) */
export function loggable(word: unknown): string {
  return typeof word === 'string' && /^\w[\w.-]{0,63}$/.test(word) ? word : 'unknown';
}
