import { crossSiteRefusal, mayUseCookies } from './cross-site-check';

const SECURE = { isSecure: true, trustedOrigins: new Set(['https://app.example.com']) };
const LOCAL = { isSecure: false, trustedOrigins: new Set(['http://app.localhost:5173']) };
const Host = 'api.example.com';

type Headers = Record<string, string>;
const isAllowed = (settings: typeof SECURE, headers: Headers): boolean => {
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return crossSiteRefusal({ headers: Object.fromEntries(lowered) as Headers }, settings) === null;
};

describe('a request', () => {
  it.each<[string, Headers]>([
    [
      'a trusted origin, whatever the site is',
      { Host, Origin: 'https://app.example.com', 'Sec-Fetch-Site': 'cross-site' },
    ],
    ['its own origin', { Host, Origin: 'https://api.example.com', 'Sec-Fetch-Site': 'same-origin' }],
    ['its own origin by the header alone', { Host, Origin: 'https://api.example.com' }],
    ['its own origin over HTTP/2', { ':authority': Host, Origin: 'https://api.example.com' }],
    ['its own origin behind a proxy that changes the host', { Host: 'internal', 'Sec-Fetch-Site': 'same-origin' }],
    ['the user', { Host, 'Sec-Fetch-Site': 'none' }],
  ])('may come from %s', (_, headers) => {
    expect(isAllowed(SECURE, headers)).toBe(true);
  });

  it.each<[string, Headers]>([
    ['nowhere that is known', { Host }],
    ['another site', { Host, Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site' }],
    ['another site by the header alone', { Host, Origin: 'https://evil.test' }],
    ['another origin of the site', { Host, Origin: 'https://blog.example.com', 'Sec-Fetch-Site': 'same-site' }],
    [
      'its own host, where the browser says otherwise',
      { Host, Origin: `https://${Host}`, 'Sec-Fetch-Site': 'cross-site' },
    ],
    ['its own host without TLS', { Host, Origin: `http://${Host}` }],
    ['an opaque origin', { Host, Origin: 'null' }],
    ['another port of a trusted host', { Host, Origin: 'https://app.example.com:8443' }],
    ['no host', { Host: '', Origin: 'https://' }],
  ])('may not come from %s', (_, headers) => {
    expect(isAllowed(SECURE, headers)).toBe(false);
  });

  it.each<[string, Headers]>([
    ['Sec-Fetch-Site', { host: Host, origin: 'https://blog.example.com', 'sec-fetch-site': 'same-origin' }],
    ['Origin', { host: Host, origin: `https://${Host}` }],
  ])('may not come from where a %s says that was added after it was received', (name, headers) => {
    const others = Object.entries(headers).filter(([other]) => other !== name.toLowerCase());
    const rawHeaders = others.flat();
    expect(crossSiteRefusal({ headers, rawHeaders }, SECURE)).not.toBeNull();
    expect(crossSiteRefusal({ headers, rawHeaders: [...rawHeaders, name, ''] }, SECURE)).toBeNull();
    expect(crossSiteRefusal({ headers, raw: { rawHeaders } }, SECURE)).not.toBeNull();
    // Adapters of serverless platforms leave the raw headers empty.
    expect(crossSiteRefusal({ headers, rawHeaders: [] }, SECURE)).toBeNull();
  });

  it('may come without TLS from localhost alone', () => {
    expect(isAllowed(LOCAL, { Host: 'localhost:3000', Origin: 'http://localhost:3000' })).toBe(true);
    expect(isAllowed(LOCAL, { Host: 'localhost:3000', Origin: 'http://app.localhost:5173' })).toBe(true);
    expect(isAllowed(LOCAL, { Host: 'localhost:3000', Origin: 'http://localhost:5173' })).toBe(false);
    expect(isAllowed(LOCAL, { Host, Origin: `http://${Host}`, 'Sec-Fetch-Site': 'same-origin' })).toBe(false);
    expect(isAllowed(LOCAL, { Host: 'localhost:3000', Origin: 'null', 'Sec-Fetch-Site': 'same-origin' })).toBe(true);
    expect(mayUseCookies({ host: 'LOCALHOST:3000' }, LOCAL)).toBe(true);
    const page = { Host: '[::1]:3000', 'Sec-Fetch-Site': 'same-origin' };
    expect(isAllowed(LOCAL, { ...page, Origin: 'https://[::1]:5173' })).toBe(true);
    expect(isAllowed(LOCAL, { ...page, Origin: 'https://app.example.com' })).toBe(false);
    expect(mayUseCookies({}, LOCAL)).toBe(false);
    expect(mayUseCookies({}, SECURE)).toBe(true);
  });
});
