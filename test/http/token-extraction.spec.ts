import { CookieAuthentication } from '../../libs/auth/src/http/cookies/cookie-mode';
import { cookieSettings } from '../../libs/auth/src/http/cookies/cookie-jar';
import { CookieTransport } from '../../libs/auth/src/http/cookies/cookie-jar';
import { isTokenInCookie, presentedToken } from '../../libs/auth/src/http/transports';

const HEADERS = { host: 'api.example.com', cookie: '__Host-auth_access=token' };
const OWN = { origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin' };

describe('the token of a GraphQL operation', () => {
  const settings = cookieSettings({
    cookies: { mode: 'optional', name: 'auth', secure: true, trustedOrigins: [] },
  })!;
  const cookies = new CookieAuthentication(new CookieTransport(settings, {} as never), {} as never, {} as never);
  const tokenIn = (context: object, reads: CookieAuthentication | null = cookies): string => {
    const call = { getType: () => 'graphql', getArgByIndex: () => context };
    return presentedToken(call as never, reads).accessToken;
  };

  it('is read from the cookie if the request passes the cross-site check', () => {
    expect(tokenIn({ req: { method: 'GET', headers: HEADERS } })).toBe('token');
    expect(tokenIn({ req: { method: 'POST', headers: { ...HEADERS, ...OWN } } })).toBe('token');
    expect(() => tokenIn({ req: { method: 'POST', headers: HEADERS } })).toThrow('a trusted origin');
  });

  it('is subject to the cross-site check in a WebSocket handshake and in a request of unknown method', () => {
    const upgrade = { ...HEADERS, upgrade: 'websocket' };
    expect(() => tokenIn({ extra: { request: { method: 'GET', headers: upgrade } } })).toThrow('a trusted origin');
    expect(tokenIn({ extra: { request: { method: 'GET', headers: { ...upgrade, ...OWN } } } })).toBe('token');
    expect(() => tokenIn({ request: { headers: HEADERS } })).toThrow('a trusted origin');
  });

  it('is not read from the cookie without the cookies option', () => {
    expect(() => tokenIn({ req: { method: 'GET', headers: HEADERS } }, null)).toThrow('were not provided');
  });
});

describe('the token of a socket.io client', () => {
  it.each([5, '', undefined])('is in a cookie if auth.token is %j', (token) => {
    const client = { request: { headers: {} }, handshake: { auth: { token } } };
    expect(isTokenInCookie({ getType: () => 'ws', getArgByIndex: () => client } as never)).toBe(true);
  });

  it('is not in a cookie if auth.token is a text', () => {
    const client = { request: { headers: {} }, handshake: { auth: { token: 'token' } } };
    expect(isTokenInCookie({ getType: () => 'ws', getArgByIndex: () => client } as never)).toBe(false);
  });
});
