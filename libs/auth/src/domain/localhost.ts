/**
 * Whether the host is the machine itself, where browsers need no TLS: `localhost`, `*.localhost`, 127.0.0.0/8 or `[::1]`.
 * @param hostname without a port, as `URL` serialises it
 */
export function isLocalhost(hostname: string): boolean {
  return /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
