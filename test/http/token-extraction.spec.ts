import { CookieRules } from '../../libs/auth/src/http/cookies/cookie-rules';
import { CrossSiteCheck } from '../../libs/auth/src/http/cookies/cross-site-check';
import { AccessTokens, type FoundToken } from '../../libs/auth/src/http/transports';
import { DrivenClock } from '../support/driven-clock';

const HEADERS = { host: 'api.example.com', cookie: '__Host-auth_access=token' };
const OWN = { origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin' };

const clock = new DrivenClock();

function tokensIn(mode: 'optional' | false): AccessTokens {
  const options = { cookies: { mode, name: 'auth', secure: true, trustedOrigins: [] } };
  const check = new CrossSiteCheck(options);
  const unused = {} as never;
  const cookies = new CookieRules(options, check, unused, unused, clock);
  return new AccessTokens(cookies, null, clock);
}

describe('the token of a GraphQL operation', () => {
  const find = (context: object, mode: 'optional' | false = 'optional'): Promise<FoundToken | null> =>
    tokensIn(mode).find(
      { getType: () => 'graphql', getArgByIndex: (index: number) => (index === 2 ? context : undefined) } as never,
      true,
    );

  it('is read from the cookie if the request passes the cross-site check', async () => {
    const found = { accessToken: 'token', isCookie: true };
    expect(await find({ req: { method: 'GET', headers: HEADERS } })).toMatchObject(found);
    expect(await find({ req: { method: 'POST', headers: { ...HEADERS, ...OWN } } })).toMatchObject(found);
    await expect(find({ req: { method: 'POST', headers: HEADERS } })).rejects.toThrow('a trusted origin');
  });

  it('is subject to the cross-site check in a WebSocket handshake and in a request of unknown method', async () => {
    const upgrade = { ...HEADERS, upgrade: 'websocket' };
    const handshake = (headers: object): object => ({ extra: { request: { method: 'GET', headers } } });
    await expect(find(handshake(upgrade))).rejects.toThrow('a trusted origin');
    expect(await find(handshake({ ...upgrade, ...OWN }))).toMatchObject({ accessToken: 'token' });
    await expect(find({ request: { headers: HEADERS } })).rejects.toThrow('a trusted origin');
  });

  it('is not read from the cookie without the cookies option', async () => {
    expect(await find({ req: { method: 'GET', headers: HEADERS } }, false)).toBeNull();
  });
});

describe('the token of a socket.io client', () => {
  const find = (token: unknown): Promise<FoundToken | null> => {
    const client = { request: { headers: { ...HEADERS, ...OWN } }, handshake: { auth: { token } } };
    return tokensIn('optional').find({ getType: () => 'ws', getArgByIndex: () => client } as never, true);
  };

  it.each([5, '', undefined])('is in a cookie if auth.token is %j', async (token) => {
    expect(await find(token)).toMatchObject({ accessToken: 'token', isCookie: true });
  });

  it('is not in a cookie if auth.token is a text', async () => {
    expect(await find('another')).toMatchObject({ accessToken: 'another', isCookie: false });
  });
});
