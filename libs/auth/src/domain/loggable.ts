/**
 * Returns a code, name or id if it has at most 64 ASCII letters, digits and `_.-`, and does not begin with `.` or `-`.
 * Otherwise returns `unknown`, so that no value can forge a log entry. (ASVS 16.4.1)
 */
export function loggable(word: unknown): string {
  return typeof word === 'string' && /^\w[\w.-]{0,63}$/.test(word) ? word : 'unknown';
}
