import { AxiosError } from 'axios';
import { ClientError, type AuthClient } from 'nestjs-session-auth-client';
import { retry } from 'nestjs-session-auth-client/query';
import { FakeAuthServer } from 'nestjs-session-auth-client/testing';

describe.each(['bearer', 'cookie'] as const)('a fake server, with the transport %s', (transport) => {
  let server: FakeAuthServer;
  let client: AuthClient;
  let ends: string[];

  beforeEach(async () => {
    server = new FakeAuthServer({ users: { alice: 'secret' } });
    client = server.client({ transport });
    ends = [];
    client.onSessionEnd(({ reason }) => ends.push(reason));
    await client.login('alice', 'secret');
  });

  const me = async (): Promise<unknown> => {
    const response = await client.fetch('/me');
    return response.ok ? response.json() : response.status;
  };

  it('a signed-in user reaches the routes of the application, before and after the access token expires', async () => {
    expect(await me()).toEqual({ username: 'alice' });
    server.expireAccessTokens();
    expect([await me(), ends]).toEqual([{ username: 'alice' }, []]);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['login', () => client.login('alice', 'wrong'), 'invalid_credentials'],
    ['login of nobody', () => client.login('toString', 'secret'), 'invalid_credentials'],
    ['changePassword', () => client.changePassword('wrong', 'new'), 'invalid_fields'],
    ['reauthenticate', () => client.reauthenticate('wrong'), 'invalid_fields'],
    ['revoke', () => client.revoke('unknown'), 'not_found'],
  ])('%s is refused as by the server', async (_, call, code) => {
    await expect(call()).rejects.toMatchObject({ code });
  });

  it('all methods of the client work', async () => {
    await client.reauthenticate('secret');
    await client.changePassword('secret', 'new secret');
    expect(await client.sessions()).toMatchObject([{ id: client.sessionId, isCurrent: true, deviceType: 'desktop' }]);
    expect([await client.history(), await client.isSignedIn()]).toEqual([[], true]);
    expect(await client.logoutAll({ keepCurrent: true })).toBe(0);
    await client.logout();
    await client.login('alice', 'new secret');
    await client.revoke(client.sessionId!);
    await client.login('alice', 'new secret');
    expect([await client.logoutAll(), ends]).toEqual([1, ['signedOut', 'signedOut', 'signedOut']]);
  });

  it('a user can be added later, and a request without a session is refused', async () => {
    server.addUser('carol', 'secret');
    await client.login('carol', 'secret');
    expect(await me()).toEqual({ username: 'carol' });
    expect((await server.respond(new Request('http://localhost/me'))).status).toBe(401);
  });
});

it.each<[string, unknown, boolean]>([
  ['signed_out', new ClientError('signed_out', ''), false],
  ['session_changed', new ClientError('session_changed', ''), false],
  ['foreign_origin', new ClientError('foreign_origin', ''), false],
  ['offline', new ClientError('offline', ''), true],
  ['no_answer', new ClientError('no_answer', ''), true],
  ['no_answer that is not JSON', new ClientError('no_answer', '', { status: 200 }), false],
  ['a redirect', new ClientError('unexpected_answer', '', { status: 0 }), false],
  ['unauthorized', new ClientError('unauthorized', '', { status: 401 }), false],
  ['too_many_attempts', new ClientError('too_many_attempts', '', { status: 429 }), false],
  ['unavailable', new ClientError('unavailable', '', { status: 503 }), true],
  ['a network error', new TypeError('Failed to fetch'), true],
  ['a response with status 404', new Response(null, { status: 404 }), false],
  ['an axios error with status 401', { response: { status: 401 } }, false],
  ['an axios error with status 502', { response: { status: 502 } }, true],
  ['an axios error without a response', { code: 'ERR_NETWORK' }, true],
  ['no error', null, true],
])('TanStack Query repeats a query after %s only if it may succeed', (_, error, isRepeated) => {
  // Axios wraps the errors of `client.fetch`.
  for (const one of error instanceof ClientError ? [error, AxiosError.from(error)] : [error]) {
    expect([retry(0, one), retry(2, one), retry(3, one)]).toEqual([isRepeated, isRepeated, false]);
  }
});
