import type { CookieAuthentication } from './cookie-authentication';

/** The cookie authentication of each HTTP server, for functions that cannot inject it. */
const AUTHENTICATION_BY_SERVER = new WeakMap<object, CookieAuthentication>();

/** Enables cookie authentication for WebSocket handshakes with this server. */
export function readCookiesOfHandshakes(server: object, authentication: CookieAuthentication): void {
  AUTHENTICATION_BY_SERVER.set(server, authentication);
}

/**
 * Returns the cookie authentication that is enabled for the server of a handshake, or null if there is none, for
 * example because cookie mode is off. Node.js stores the server in the handshake's socket.
 */
export function handshakeCookies(handshake: object): CookieAuthentication | null {
  const { server } = (handshake as { readonly socket?: { readonly server?: object } }).socket ?? {};
  return (server && AUTHENTICATION_BY_SERVER.get(server)) ?? null;
}
