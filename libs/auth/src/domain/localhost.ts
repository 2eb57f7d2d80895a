/**
 * Returns whether the host is the local machine, for which browsers do not require TLS: `localhost`, `*.localhost`,
 * 127.0.0.0/8 or `[::1]`.
 * @param hostname the `hostname` of a `URL`
 */
export function isLocalhost(hostname: string): boolean {
  return /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
