import { AuthClient, memoryTokens } from 'nestjs-session-auth-client';

const PAIR = { access_token: 'a1', refresh_token: 'r1', session_id: 's', token_type: 'Bearer' };
const refused = (): Response =>
  Response.json(
    { detail: 'Invalid or expired access token.', code: 'access_token_invalid' },
    { status: 401, headers: { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' } },
  );

/** Returns a client whose server refuses every access token and responds to refreshes as given. */
function clientOf(refresh: () => Response): { client: AuthClient; requests: Request[]; emitted: string[] } {
  const requests: Request[] = [];
  const fetch = (input: string | Request): Promise<Response> => {
    const request = input as Request;
    requests.push(request);
    const { pathname } = new URL(request.url);
    if (/login|password/.test(pathname)) return Promise.resolve(Response.json(PAIR));
    return Promise.resolve(pathname === '/auth/token/refresh/' ? refresh() : refused());
  };
  const client = new AuthClient({
    baseUrl: 'https://app.example.com',
    storage: memoryTokens(),
    environment: { fetch },
  });
  const emitted: string[] = [];
  for (const name of ['signedOut', 'signedOutElsewhere', 'signInNeeded'] as const)
    client.on(name, () => emitted.push(name));
  return { client, requests, emitted };
}

describe('refused refreshes', () => {
  it.each([
    ['a proxy', () => new Response('<h1>400 Request Header Or Cookie Too Large</h1>', { status: 400 })],
    ['a body parser', () => Response.json({ detail: 'Malformed JSON.' }, { status: 400 })],
  ])('a refresh that %s refuses does not end the session', async (_, refresh) => {
    const { client, emitted } = clientOf(refresh);
    await client.login('alice', 'secret');
    await client.fetch('/me').catch(() => undefined);
    expect([await client.isSignedIn(), emitted]).toEqual([true, []]);
  });

  it('a refresh that the library refuses ends the session', async () => {
    const { client, emitted } = clientOf(() => Response.json({ non_field_errors: ['Invalid.'] }, { status: 400 }));
    await client.login('alice', 'secret');
    await client.fetch('/me').catch(() => undefined);
    expect([await client.isSignedIn(), emitted]).toEqual([false, ['signedOutElsewhere']]);
  });
});

it('requests with passwords and tokens do not follow redirects', async () => {
  const { client, requests } = clientOf(() => Response.json(PAIR));
  await client.login('alice', 'secret');
  await client.changePassword('secret', 'another secret');
  expect(requests.map(({ redirect }) => redirect)).toEqual(['manual', 'manual']);
});
