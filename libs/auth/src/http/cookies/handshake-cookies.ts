import type { CookieAuthentication } from './cookie-authentication';

/** The cookie authentication of each HTTP server, for functions that cannot inject it. */
const AUTHENTICATION_BY_SERVER = new WeakMap<object, CookieAuthentication>();

/** Enables cookie authentication for WebSocket handshakes with this server. */
export function readCookiesOfHandshakes(server: object, authentication: CookieAuthentication): void {
  AUTHENTICATION_BY_SERVER.set(server, authentication);
}

/**
 * Returns the cookie authentication for a handshake. Returns null if cookie mode is off, or if the
 * server is not the application's HTTP server. Node.js stores the server in the handshake's socket.
 */
export function handshakeCookies(handshake: object): CookieAuthentication | null {
  const { server } = (handshake as { readonly socket?: { readonly server?: object } }).socket ?? {};
  return (server && AUTHENTICATION_BY_SERVER.get(server)) ?? null;
}
