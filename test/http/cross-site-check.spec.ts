import { CookieRules, occursInCookies } from '../../libs/auth/src/http/cookies/cookie-rules';
import { CrossSiteCheck } from '../../libs/auth/src/http/cookies/cross-site-check';

const EXTENSION = `chrome-extension://${'abcdefgh'.repeat(4)}`;
const optionsWith = (secure: boolean, ...trustedOrigins: string[]) => ({
  cookies: { mode: 'optional', name: 'auth', secure, trustedOrigins } as const,
});
const SECURE = new CrossSiteCheck(optionsWith(true, 'https://app.example.com'));
const LOCAL = new CrossSiteCheck(optionsWith(false, 'http://app.localhost:5173', EXTENSION));
const HOST = 'api.example.com';
const OWN = `https://${HOST}`;

describe('the cross-site check', () => {
  it.each([
    ['from a trusted origin on another site', [HOST, 'https://app.example.com', 'cross-site'], true],
    ['behind a proxy that changes the Host header', ['internal', undefined, 'same-origin'], true],
    ['without a host', ['', 'https://', undefined], false],
  ])('a request %s passes the check: %s', (_, [host, origin, site], passes) => {
    expect(SECURE.allows({ headers: { host, origin, 'sec-fetch-site': site } })).toBe(passes);
  });

  it('the host of an HTTP/2 request is its authority', () => {
    expect(SECURE.allows({ headers: { ':authority': HOST, origin: OWN } })).toBe(true);
    expect(SECURE.allows({ headers: { ':authority': 'another.example.com', origin: OWN } })).toBe(false);
  });

  it('a request whose method is unknown counts as one that may change something', () => {
    const unused = {} as never;
    const rules = new CookieRules(optionsWith(true, OWN), SECURE, unused, unused, unused);
    expect(() => rules.acceptCookie({ headers: { host: HOST } }, false)).toThrow('a trusted origin');
  });

  it('cookies are read, decoded and searched in a time that many fields of one request cannot multiply', () => {
    const unused = {} as never;
    const rules = new CookieRules(optionsWith(true, OWN), SECURE, unused, unused, unused);
    const request = { headers: { host: HOST, cookie: 'a=%41;'.repeat(4_000) } };
    const found = new Set<unknown>();
    const start = performance.now();
    for (let field = 0; field < 4_000; field++) {
      found.add(rules.accessToken(request, false)).add(occursInCookies(request, 'x'));
    }
    expect(performance.now() - start).toBeLessThan(500);
    expect([...found]).toEqual([null, false]);
  });

  it.each([
    ['Sec-Fetch-Site', { host: HOST, origin: 'https://blog.example.com', 'sec-fetch-site': 'same-origin' }],
    ['Origin', { host: HOST, origin: OWN }],
  ])('a %s header that was added to the request after it was received is ignored', (name, headers) => {
    const others = Object.entries(headers).filter(([other]) => other !== name.toLowerCase());
    const rawHeaders = others.flat();
    expect(SECURE.allows({ headers, rawHeaders })).toBe(false);
    const sent = (headers as Record<string, string>)[name.toLowerCase()]!;
    expect(SECURE.allows({ headers, rawHeaders: [...rawHeaders, name, sent] })).toBe(true);
    expect(SECURE.allows({ headers, raw: { rawHeaders } })).toBe(false);
    // Adapters of serverless platforms leave the raw headers empty.
    expect(SECURE.allows({ headers, rawHeaders: [] })).toBe(true);
  });

  it.each([
    ['Origin', { origin: OWN }],
    ['Sec-Fetch-Site', { 'sec-fetch-site': 'same-origin' }],
    ['Host', { host: 'blog.example.com' }],
  ])('a %s header whose value was changed after it was received counts as it was sent', (_, changed) => {
    const sent = { Host: HOST, Origin: 'https://blog.example.com', 'Sec-Fetch-Site': 'same-site' };
    const older = { Host: HOST, Origin: 'https://blog.example.com' };
    for (const [name, lines] of Object.entries({ sent, older })) {
      const lower = Object.entries(lines).map(([header, value]) => [header.toLowerCase(), value]);
      const headers = { ...(Object.fromEntries(lower) as Record<string, string>), ...changed };
      expect([name, SECURE.allows({ headers, rawHeaders: Object.entries(lines).flat() })]).toEqual([name, false]);
    }
    const rawHeaders = ['Host', 'localhost', 'Origin', `http://${HOST}`, 'Sec-Fetch-Site', 'same-origin'];
    expect(LOCAL.allows({ headers: { host: 'localhost', 'sec-fetch-site': 'same-origin' }, rawHeaders })).toBe(false);
  });

  it.each([
    ['localhost:3000', 'http://app.localhost:5173', undefined, true],
    ['localhost:3000', 'http://localhost:5173', undefined, false],
    ['localhost:3000', EXTENSION, 'cross-site', true],
    ['localhost:3000', EXTENSION.replace('a', 'b'), 'cross-site', false],
    ['LOCALHOST:3000', 'null', 'same-origin', true],
    ['[::1]:3000', 'https://[::1]:5173', 'same-origin', true],
    ['[::1]:3000', 'https://app.example.com', 'same-origin', false],
    [undefined, undefined, 'same-origin', false],
  ])('with `secure: false`, a request to %s from %s (%s) passes the check: %s', (host, origin, site, passes) => {
    expect(LOCAL.allows({ headers: { host, origin, 'sec-fetch-site': site } })).toBe(passes);
  });
});
