/**
 * Returns whether the host is the local machine: `localhost`, `*.localhost`, 127.0.0.0/8 or `[::1]`.
 * @param hostname the host in lower case and without a port, such as the `hostname` of a `URL`
 */
export function isLocalhost(hostname: string): boolean {
  return /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
