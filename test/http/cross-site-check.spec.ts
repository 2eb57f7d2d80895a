import { CrossSiteCheck } from '../../libs/auth/src/http/cookies/cross-site-check';

const checkWith = (secure: boolean, trustedOrigin: string): CrossSiteCheck =>
  new CrossSiteCheck({ cookies: { mode: 'optional', name: 'auth', secure, trustedOrigins: [trustedOrigin] } });
const SECURE = checkWith(true, 'https://app.example.com');
const LOCAL = checkWith(false, 'http://app.localhost:5173');
const Host = 'api.example.com';

type Headers = Record<string, string>;
const isAllowed = (check: CrossSiteCheck, headers: Headers): boolean => {
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return check.allows({ headers: Object.fromEntries(lowered) as Headers });
};

describe('the cross-site check', () => {
  it.each<[string, Headers]>([
    [
      'from a trusted origin on another site',
      { Host, Origin: 'https://app.example.com', 'Sec-Fetch-Site': 'cross-site' },
    ],
    ['from the origin of the API', { Host, Origin: 'https://api.example.com', 'Sec-Fetch-Site': 'same-origin' }],
    ['from the origin of the API without Sec-Fetch-Site', { Host, Origin: 'https://api.example.com' }],
    ['from the origin of the API over HTTP/2', { ':authority': Host, Origin: 'https://api.example.com' }],
    [
      'from the origin of the API behind a proxy that changes the Host header',
      { Host: 'internal', 'Sec-Fetch-Site': 'same-origin' },
    ],
    ['that the user started, such as from the address bar', { Host, 'Sec-Fetch-Site': 'none' }],
  ])('allows a request %s', (_, headers) => {
    expect(isAllowed(SECURE, headers)).toBe(true);
  });

  it.each<[string, Headers]>([
    ['without Origin and Sec-Fetch-Site', { Host }],
    ['from another site', { Host, Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site' }],
    ['from another site without Sec-Fetch-Site', { Host, Origin: 'https://evil.test' }],
    [
      'from another origin of the same site',
      { Host, Origin: 'https://blog.example.com', 'Sec-Fetch-Site': 'same-site' },
    ],
    [
      'with the origin of the API in Origin, but cross-site in Sec-Fetch-Site',
      { Host, Origin: `https://${Host}`, 'Sec-Fetch-Site': 'cross-site' },
    ],
    ['from the host of the API without TLS', { Host, Origin: `http://${Host}` }],
    ['from an opaque origin', { Host, Origin: 'null' }],
    ['from another port of a trusted origin', { Host, Origin: 'https://app.example.com:8443' }],
    ['without a host', { Host: '', Origin: 'https://' }],
  ])('refuses a request %s', (_, headers) => {
    expect(isAllowed(SECURE, headers)).toBe(false);
  });

  it.each<[string, Headers]>([
    ['Sec-Fetch-Site', { host: Host, origin: 'https://blog.example.com', 'sec-fetch-site': 'same-origin' }],
    ['Origin', { host: Host, origin: `https://${Host}` }],
  ])('ignores a %s header that was added to the request after it was received', (name, headers) => {
    const others = Object.entries(headers).filter(([other]) => other !== name.toLowerCase());
    const rawHeaders = others.flat();
    expect(SECURE.allows({ headers, rawHeaders })).toBe(false);
    expect(SECURE.allows({ headers, rawHeaders: [...rawHeaders, name, ''] })).toBe(true);
    expect(SECURE.allows({ headers, raw: { rawHeaders } })).toBe(false);
    // Adapters of serverless platforms leave the raw headers empty.
    expect(SECURE.allows({ headers, rawHeaders: [] })).toBe(true);
  });

  it('allows requests without TLS only from localhost', () => {
    expect(isAllowed(LOCAL, { Host: 'localhost:3000', Origin: 'http://localhost:3000' })).toBe(true);
    expect(isAllowed(LOCAL, { Host: 'localhost:3000', Origin: 'http://app.localhost:5173' })).toBe(true);
    expect(isAllowed(LOCAL, { Host: 'localhost:3000', Origin: 'http://localhost:5173' })).toBe(false);
    expect(isAllowed(LOCAL, { Host, Origin: `http://${Host}`, 'Sec-Fetch-Site': 'same-origin' })).toBe(false);
    expect(isAllowed(LOCAL, { Host: 'localhost:3000', Origin: 'null', 'Sec-Fetch-Site': 'same-origin' })).toBe(true);
    expect(LOCAL.mayUseCookies({ headers: { host: 'LOCALHOST:3000' } })).toBe(true);
    const page = { Host: '[::1]:3000', 'Sec-Fetch-Site': 'same-origin' };
    expect(isAllowed(LOCAL, { ...page, Origin: 'https://[::1]:5173' })).toBe(true);
    expect(isAllowed(LOCAL, { ...page, Origin: 'https://app.example.com' })).toBe(false);
    expect(LOCAL.mayUseCookies({ headers: {} })).toBe(false);
    expect(SECURE.mayUseCookies({ headers: {} })).toBe(true);
  });
});
