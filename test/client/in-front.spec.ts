import { AuthClient, memoryTokens } from 'nestjs-session-auth/client';

const PAIR = { access_token: 'a1', refresh_token: 'r1', session_id: 's', token_type: 'Bearer' };
const refused = (): Response =>
  Response.json(
    { detail: 'Invalid or expired access token.' },
    { status: 401, headers: { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' } },
  );

/** A client of a server that refuses every access token, and answers refreshes as it is told to. */
function clientOf(refresh: () => Response): { client: AuthClient; requests: Request[]; told: string[] } {
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
  const told: string[] = [];
  for (const name of ['signedOut', 'signedOutElsewhere', 'signInNeeded'] as const)
    client.on(name, () => told.push(name));
  return { client, requests, told };
}

describe('what stands in front of the server', () => {
  it.each([
    ['a proxy', () => new Response('<h1>400 Request Header Or Cookie Too Large</h1>', { status: 400 })],
    ['a body parser', () => Response.json({ detail: 'Malformed JSON.' }, { status: 400 })],
  ])('says nothing of the session when %s refuses the refresh', async (_, refresh) => {
    const { client, told } = clientOf(refresh);
    await client.login('alice', 'secret');
    await client.fetch('/me').catch(() => undefined);
    expect([await client.isSignedIn(), told]).toEqual([true, []]);
  });

  it('is told from the server, whose refusal ends the session', async () => {
    const { client, told } = clientOf(() => Response.json({ non_field_errors: ['Invalid.'] }, { status: 400 }));
    await client.login('alice', 'secret');
    await client.fetch('/me').catch(() => undefined);
    expect([await client.isSignedIn(), told]).toEqual([false, ['signedOutElsewhere']]);
  });

  it('sends no password and no token of the client’s on to anywhere else', async () => {
    const { client, requests } = clientOf(() => Response.json(PAIR));
    await client.login('alice', 'secret');
    await client.changePassword('secret', 'another secret');
    expect(requests.map(({ redirect }) => redirect)).toEqual(['manual', 'manual']);
  });
});
