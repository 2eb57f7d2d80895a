import type { CookieAuthentication } from './cookie-authentication';

/** By the HTTP server of the application: a function without injection finds the settings of its own application. */
const COOKIES_OF_SERVERS = new WeakMap<object, CookieAuthentication>();

/** Has the cookies of handshakes with this server read. */
export function readCookiesOfHandshakes(server: object, authentication: CookieAuthentication): void {
  COOKIES_OF_SERVERS.set(server, authentication);
}

/** Returns what reads the cookies of a handshake, or null without cookie mode. Node keeps the server with the socket. */
export function handshakeCookies(handshake: object): CookieAuthentication | null {
  const { server } = (handshake as { readonly socket?: { readonly server?: object } }).socket ?? {};
  return (server && COOKIES_OF_SERVERS.get(server)) ?? null;
}
