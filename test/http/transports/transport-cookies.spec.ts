import { IoAdapter } from '@nestjs/platform-socket.io';
import { ACCESS, Browser, type Initiator } from '../../support/browser';
import { MINUTE } from '../../support/driven-clock';
import { tokensOfArgument } from '../../support/header-tokens';
import { applicationStarter } from '../../support/start-for-test';
import { CREDENTIALS, type TestApplication, type TestApplicationOptions } from '../../support/test-application';
import { ChatGateway, connectIo, connectWs, gatewayOptions } from './chat';

const OWN = 'https://api.example.com';
const TRUSTED = 'https://app.example.com';
const NOBODY = ['nobody', null];
const ALICE = ['alice', expect.any(String)];
const BOB = ['bob', expect.any(String)];

const auth = { cookies: { mode: 'optional' as const, trustedOrigins: [TRUSTED] } };
const startApplication = applicationStarter({ auth, ...gatewayOptions(ChatGateway) });

let app: TestApplication;
let browser: Browser;
let Cookie: string;

async function start(options: Partial<TestApplicationOptions> = {}, isOld = false): Promise<void> {
  app = await startApplication(options);
  browser = new Browser(app, OWN, isOld);
  const { accessToken } = await app.auth.login(CREDENTIALS);
  browser.put(ACCESS, accessToken);
  Cookie = `${ACCESS}=${accessToken}`;
}

const connect = (headers?: Record<string, string>) => connectWs(app, headers);

const HANDSHAKES: readonly (readonly [Initiator, unknown])[] = [
  [OWN, ALICE],
  [TRUSTED, ALICE],
  ...['https://evil.test', 'https://blog.example.com', `${TRUSTED}:8443`, 'null'].map(
    (from) => [from as Initiator, 'cross_site_request'] as const,
  ),
];

describe('WebSockets in cookie mode', () => {
  it.each([false, true])(
    'the cookie authenticates a WebSocket only if the handshake comes from an allowed origin, old browser: %s',
    async (old) => {
      await start({}, old);
      for (const [from, answer] of HANDSHAKES) {
        // A browser without support for `SameSite` sends the cookie from every site.
        const headers = { ...browser.handshakeFrom(from), Cookie };
        expect([from, await (await connect(headers))('me')]).toEqual([from, answer]);
      }
    },
  );

  it('a handshake with a cookie requires an origin, and a Bearer header takes precedence and requires none', async () => {
    await start();
    const { access_token: token } = await app.login('bob');
    for (const [headers, answer] of [
      [{ Cookie }, 'cross_site_request'],
      [{ Cookie, Authorization: `Bearer ${token}` }, BOB],
      [{ Cookie, Authorization: 'Bearer x' }, 'access_token_invalid'],
      [{ Host: 'api.example.com', Origin: OWN }, 'credentials_missing'],
      [{ ...browser.handshakeFrom(OWN), Cookie: `${Cookie}; ${Cookie}` }, 'credentials_ambiguous'],
    ] as const) {
      expect([headers, await (await connect(headers))('me')]).toEqual([headers, answer]);
    }
  });

  it('socketAccessToken authenticates a handshake by its cookie, but not without the option `cookies`', async () => {
    await start();
    const answerTo = async (headers: Record<string, string>) => (await connect(headers))('handshake');
    expect(await answerTo(browser.handshakeFrom(OWN))).toBe('welcome');
    expect(await answerTo(browser.handshakeFrom('https://blog.example.com'))).toBe('cross_site_request');
    expect(await answerTo({ Host: 'api.example.com' })).toBe('credentials_missing');
    await start({ auth: {} });
    expect(await answerTo(browser.handshakeFrom(OWN))).toBe('credentials_missing');
  });

  it.each(['websocket', 'polling'])('the cookie authenticates a socket.io handshake over %s', async (transport) => {
    await start(gatewayOptions(ChatGateway, IoAdapter));
    const ask = async (extraHeaders: Record<string, string>, token: string): Promise<unknown> =>
      (await connectIo(app, { transports: [transport], extraHeaders, auth: { token } }))('me');
    for (const [from, answer] of HANDSHAKES) {
      expect([from, await ask({ ...browser.handshakeFrom(from), Cookie }, '')]).toEqual([from, answer]);
    }
    const { access_token: token } = await app.login('bob');
    expect(await ask({ ...browser.handshakeFrom(OWN), Authorization: 'Basic abc' }, token)).toEqual(BOB);
  });
});

describe('WebSocket messages with @OptionalAuth()', () => {
  beforeEach(() => start({ auth: { ...auth, tokenSource: tokensOfArgument(1) } }));

  it('a message handler receives null after the cookie of the handshake has become invalid, but refuses an invalid token', async () => {
    const ask = await connect(browser.handshakeFrom(OWN));
    const { access_token: token, session_id: id } = await app.login('bob');
    expect(await ask('visitor', {})).toEqual(ALICE);
    expect(await ask('visitor', { token })).toEqual(['bob', id]);
    expect(await ask('visitor', { token: 'token' })).toBe('access_token_invalid');
    app.clock.advance(15 * MINUTE);
    expect(await ask('visitor', { token })).toBe('access_token_invalid');
    for (const data of [undefined, 'text', {}]) expect(await ask('visitor', data)).toEqual(NOBODY);
    const foreign = await connect({ ...browser.handshakeFrom('https://evil.test'), Cookie: `${ACCESS}=nonsense` });
    expect(await foreign('visitor')).toBe('cross_site_request');
  });
});
