import { Fixture, signedIn, withExpiredToken, TTL } from './fixture';

describe('accessToken()', () => {
  it('accessToken() returns the token, and refreshes it first if it is about to expire', async () => {
    const { fixture, server, one } = await signedIn({ options: { accessTokenTtlSeconds: 900 } });
    expect(await one.client.accessToken()).toBe('access-2');
    await fixture.time.run(TTL - 20_000);
    expect(await fixture.time.until(one.client.accessToken())).toBe('access-3');
    expect(await one.client.accessToken()).toBe('access-3');
    expect(server.refreshes).toBe(1);
  });

  it('accessToken() replaces a token that the server has refused, once for all callers that report it', async () => {
    const { fixture, server, one } = await withExpiredToken();
    const refused = await one.client.accessToken();
    const renew = (): Promise<string> => one.client.accessToken({ refused });
    expect(await fixture.time.until(Promise.all([renew(), renew()]))).toEqual(['access-3', 'access-3']);
    expect(await renew()).toBe('access-3');
    expect(server.refreshes).toBe(1);
  });

  it('accessToken() and refresh() reject if the token cannot be refreshed now, if the session has ended, and if nobody is signed in', async () => {
    const { fixture, server, one } = await withExpiredToken({ options: { accessTokenTtlSeconds: 900 } });
    server.delivery = () => ({ status: 429 });
    expect(await fixture.rejection(one.client.accessToken())).toMatchObject({ code: 'too_many_attempts' });
    expect(await fixture.rejection(one.client.refresh())).toMatchObject({ code: 'too_many_attempts' });
    server.delivery = () => ({});
    const refused = await fixture.time.until(one.client.accessToken());
    expect(refused).toBe('access-3');
    server.endAll();
    expect(await fixture.rejection(one.client.accessToken({ refused }))).toMatchObject({ code: 'signed_out' });
    expect(await fixture.rejection(one.client.accessToken())).toMatchObject({ code: 'signed_out' });
    expect(await fixture.rejection(one.client.refresh())).toMatchObject({ code: 'signed_out' });
    expect(one.emitted).toEqual(['refreshed', 'signedOutElsewhere']);
  });
});

describe('adopt()', () => {
  it.each(['local', 'session'] as const)(
    'adopt() replaces the tokens of the current session, with %s storage',
    async (kind) => {
      const { fixture, server, one } = await withExpiredToken({ kind });
      // As a route of an application that calls `confirmIdentity`.
      const confirm = { method: 'POST', body: '{"password":"secret"}' };
      const answer = await fixture.time.until(one.client.fetch('/auth/reauthenticate', confirm));
      const { access_token, refresh_token } = (await answer.json()) as Record<string, string>;
      const pair = { accessToken: access_token!, refreshToken: refresh_token! };
      await fixture.time.until(one.client.adopt({ ...pair, sessionId: one.client.sessionId! }));
      await fixture.time.run(TTL);
      expect(await fixture.requestInAll([one])).toEqual([200]);
      expect(server.reuses).toBe(0);
      expect(one.emitted).toEqual(['refreshed', 'refreshed', 'refreshed']);
    },
  );

  it('adopt() refuses a value that is not a session, and keeps the tokens', async () => {
    const { fixture, one } = await signedIn();
    const wrong = { accessToken: 'a', refreshToken: 'r' } as never;
    expect(await fixture.rejection(one.client.adopt(wrong))).toMatchObject({ code: 'unexpected_answer' });
    expect(await fixture.requestInAll([one])).toEqual([200]);
  });
});

describe('the end of a session', () => {
  it('forget() removes the tokens, sends no request, and calls the listeners of onSessionEnd() with the reason, unless they were removed', async () => {
    const { fixture, server, one } = await signedIn();
    const before = server.requests.length;
    const ends: unknown[] = [];
    one.client.onSessionEnd((end) => ends.push(end));
    const stop = one.client.onSessionEnd(() => ends.push('removed'));
    stop();
    await fixture.time.until(one.client.forget());
    expect(ends).toEqual([{ sessionId: 'session-1', reason: 'signedOut' }]);
    expect([await one.client.isSignedIn(), one.emitted]).toEqual([false, ['signedOut']]);
    expect(server.requests).toHaveLength(before);
  });

  it('a closed client can refresh and sign out, and receives no messages from other tabs', async () => {
    const { fixture, tabs, one } = await signedIn({ tabs: 2 });
    const other = tabs[1]!;
    one.client.close();
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    await fixture.time.until(other.client.logout());
    expect(one.emitted).toEqual(['refreshed']);
    one.client.on('sessionChanged', () => undefined);
    await fixture.login(other);
    expect(await one.client.isSignedIn()).toBe(true);
    await fixture.time.until(one.client.logout());
    expect(one.emitted).toEqual(['refreshed', 'signedOut']);
  });
});

it('a page without Web Locks logs one warning about the localStorage lease, and a client outside a page logs none', () => {
  const warn = jest.spyOn(console, 'warn').mockClear();
  const fixture = new Fixture({ traits: { hasLocks: false } });
  fixture.openIn({ localStorage: null, openBroadcast: null });
  expect(warn).not.toHaveBeenCalled();
  fixture.open();
  fixture.open();
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/Without HTTPS.*localStorage/)]]);
});
