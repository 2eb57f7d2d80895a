import { AuthSession } from 'nestjs-session-auth';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  formatAccessToken,
  formatRefreshToken,
  parseRefreshToken,
  type RefreshTokenClaims,
} from '../../libs/auth/src/tokens/tokens';
import { DAY, MINUTE, SECOND } from '../support/driven-clock';
import type { LoginAnswer, Pair, TestApplication } from '../support/test-application';
import { describeEverywhere, describeOnEachDatabase, INVALID_REFRESH, postJson } from '../support/environment';

describeEverywhere('refresh', {}, ({ app }) => {
  it('a refresh returns a new pair for the same session and nothing else, and revokes the previous access token immediately', async () => {
    const first = await app.login();
    const { body } = await app.refresh(first.refresh_token).expect(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^nsaa_[A-Za-z0-9_-]{70}$/),
      refresh_token: expect.stringMatching(/^nsar_[A-Za-z0-9_-]{98}$/),
      token_type: 'Bearer',
    });
    const tokens = [first.access_token, first.refresh_token, body.access_token, body.refresh_token];
    expect(new Set(tokens).size).toBe(4);
    await app.get('/me', first.access_token).expect(401);
    const me = await app.get('/me', body.access_token).expect(200);
    expect(me.body.session_id).toBe(first.session_id);
    expect(await app.events(body.access_token)).toEqual(['token_refresh', 'login_success']);
  });

  it('every text that is not a current refresh token is refused with a byte-identical response, also a variation of one', async () => {
    const present = (token: string) => postJson(app, '/auth/token/refresh/', JSON.stringify({ refresh_token: token }));
    const unknown = await present('unknown');
    expect([unknown.status, JSON.parse(unknown.body)]).toEqual([400, INVALID_REFRESH]);
    const [loggedOut, used] = [await app.login(), await app.login()];
    const bob = await app.login('bob');
    const { refresh_token: expired } = bob;
    await app.post('/auth/logout', loggedOut.access_token).expect(200);
    await app.refreshed(used);
    const variations = [` ${expired}`, `${expired} `, `${expired}\n`, `${expired}\0`, expired.toUpperCase()];
    const others = [' ', '\0', '\ud800', '\u{1f600}', 'x'.repeat(90_000), '{}', 'nsar_', `nsar_${'A'.repeat(98)}`];
    const ended = [loggedOut.refresh_token, used.access_token, used.refresh_token, used.refresh_token];
    for (const text of [...variations, `Bearer ${expired}`, ...others, ...ended]) {
      expect([text, (await present(text)).bytes]).toEqual([text, unknown.bytes]);
    }
    await app.expectLive(bob);
    app.clock.advance(31 * DAY);
    expect((await present(expired)).bytes).toBe(unknown.bytes);
  });

  it('a refresh needs no access token, and reads no token from the query, a form or a cookie', async () => {
    const session = await app.login();
    const { refresh_token: token } = session;
    const required = { refresh_token: ['This field is required.'] };
    await app.http.post(`/auth/token/refresh/?refresh_token=${token}`).expect(400, required);
    await app.http.post('/auth/token/refresh/').set('Cookie', `refresh_token=${token}`).expect(400, required);
    await app.http.post('/auth/token/refresh/').type('form').send({ refresh_token: token }).expect(415);
    const next = await app.refreshed(session);
    await app.post('/auth/token/refresh/', 'garbage', { refresh_token: next.refresh_token }).expect(200);
  });

  it('a refresh token presented twice ends every session of its user, and none of other users', async () => {
    const [thief, other, bob] = [await app.login(), await app.login(), await app.login('bob')];
    const next = await app.refreshed(thief);
    await app.refresh(thief.refresh_token).set('User-Agent', 'thief').expect(400, INVALID_REFRESH);
    await app.expectRevoked(next, other);
    await app.expectLive(bob);
    expect(app.sent('token_reuse_detected')).toMatchObject([
      {
        session: { id: thief.session_id, state: 'revoked' },
        ...{ ipAddress: '127.0.0.1', userAgent: 'thief', sessionsEnded: 2 },
        reuse: { generationsBehind: 1, lastRefreshAt: new Date(app.clock.now()) },
      },
    ]);
    expect(app.sent('lost_commits_suspected')).toEqual([]);
    const ended = [thief.session_id, other.session_id].sort();
    expect(app.emittedEnds()).toEqual(ended.map((id) => [id, 'token_reuse']));
    expect(await app.storedEnd(thief.session_id)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
    const history = await app.history((await app.login()).access_token);
    const extra = { session_id: thief.session_id, sessions_ended: 2 };
    const reuse = history.filter(({ event }) => event === 'token_reuse');
    expect(reuse).toMatchObject([{ extra, user_agent: 'thief' }]);
  });

  it.each([1, 2, 5])(
    'presenting the refresh token used %i refreshes ago is reuse even if it has expired, and changes nothing once its family has been revoked',
    async (behind) => {
      const pairs: Pair[] = [await app.login()];
      for (let generation = 1; generation <= 6; generation++) {
        app.clock.advance(4 * DAY);
        pairs.push(await app.refreshed(pairs.at(-1)!));
      }
      const lastRefreshAt = new Date(app.clock.now());
      app.clock.advance(MINUTE);
      await app.refresh(pairs[6 - behind]!.refresh_token).expect(400, INVALID_REFRESH);
      const later = await app.login();
      await app.expectRevoked(...pairs);
      await app.expectLive(later);
      const reuse = { generationsBehind: behind, lastRefreshAt };
      expect(app.sent('token_reuse_detected').map((sent) => sent.reuse)).toEqual([reuse]);
      const events = await app.events(later.access_token);
      expect(events.filter((event) => event === 'token_reuse')).toHaveLength(1);
    },
  );
});

describeEverywhere('refresh without rotation', { auth: { rotateRefreshTokens: false } }, ({ app }) => {
  it('a refresh returns a new access token and the same refresh token, also in parallel, and renews its lifetime up to the absolute timeout of the session', async () => {
    const [first, unused] = [await app.login(), await app.login('bob')];
    const { refresh_token: token } = first;
    for (let day = 0; day < 24; day += 6) {
      app.clock.advance(6 * DAY);
      const answers = await Promise.all([app.refresh(token), app.refresh(token)]);
      for (const { status, body } of answers)
        expect([status, body]).toEqual([200, { ...first, access_token: body.access_token, session_id: undefined }]);
    }
    await app.refresh(unused.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', first.access_token).expect(401);
    app.clock.advance(6 * DAY - MINUTE);
    await app.expectLive(await app.refreshed(first));
    expect(app.sent('token_reuse_detected')).toEqual([]);
    app.clock.advance(MINUTE);
    await app.refresh(token).expect(400, INVALID_REFRESH);
  });
});

/** Restores an older copy of the session, as a restored backup does, or a failover that lost the last commits. */
async function restore(app: TestApplication, copy: AuthSession): Promise<void> {
  await app.dataSource.getRepository(AuthSession).update({ id: copy.id }, copy);
}

/** Asserts that the session is active, and that no reuse and no end of a session was emitted. */
async function expectUnharmed(app: TestApplication, pair: Pair): Promise<void> {
  await app.expectLive(await app.refreshed(pair));
  expect([app.sent('token_reuse_detected'), app.sent('user_logged_out')]).toEqual([[], []]);
}

describeOnEachDatabase('refresh tokens that are newer than the database', {}, ({ app }) => {
  it.each([
    [1, 0],
    [3, 0],
    [1, 1],
  ])(
    'a token from the last of %i refreshes that the database lost is refused, and the session continues with the older token (%i further refreshes)',
    async (lost, further) => {
      const session = await app.login();
      let live = await app.refreshed(session);
      const copy = await app.storedSession(session.session_id);
      let newer = live;
      for (let i = 0; i < lost; i++) newer = await app.refreshed(newer);
      await restore(app, copy);
      for (let i = 0; i < further; i++) live = await app.refreshed(live);
      await app.expectRevoked(newer);
      await app.expectLive(live);
      await expectUnharmed(app, live);
    },
  );

  it('a token newer than the database causes lost_commits_suspected at most once a minute, and ends no session', async () => {
    app.clock.advance(MINUTE);
    const session = await app.login();
    const copy = await app.storedSession(session.session_id);
    const lost = await app.refreshed(session);
    await restore(app, copy);
    for (const [wait, emitted] of [
      [0, 1],
      [0, 1],
      [60 * SECOND - 1, 1],
      [1, 2],
    ] as const) {
      app.clock.advance(wait);
      await app.refresh(lost.refresh_token).expect(400, INVALID_REFRESH);
      expect(app.sent('lost_commits_suspected')).toHaveLength(emitted);
    }
    const { userId } = app.sent('user_logged_in')[0]!;
    const suspected = { userId, session: { id: session.session_id, state: 'active' } };
    expect(app.sent('lost_commits_suspected')).toMatchObject([suspected, suspected]);
    await expectUnharmed(app, session);
  });
});

describeOnEachDatabase('forged and altered refresh tokens', {}, ({ app, tap }) => {
  it('a refresh token with one altered character is refused by its checksum, without a query, and is never reuse', async () => {
    const used = await app.login();
    const live = await app.refreshed(used);
    const statements: string[] = [];
    tap.hook = { before: ({ sql }) => void statements.push(sql) };
    for (const { refresh_token: token } of [used, live]) {
      for (let position = 0; position < token.length; position += 3) {
        const other = token[position] === 'A' ? 'B' : 'A';
        const altered = token.slice(0, position) + other + token.slice(position + 1);
        await expect(app.auth.refresh(altered)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
      }
    }
    tap.hook = {};
    expect(statements).toEqual([]);
    await expectUnharmed(app, live);
  });

  it.each<[string, (claims: RefreshTokenClaims, other: LoginAnswer) => Partial<RefreshTokenClaims>]>([
    ['a different family secret', () => ({ familySecret: randomBytes(16) })],
    ['an unknown session id', () => ({ sessionId: randomUUID() })],
    ["the id of another user's session", (_, other) => ({ sessionId: other.session_id })],
    ['the generation of the current token', ({ generation }) => ({ generation: generation + 1 })],
    ['a later generation', ({ generation }) => ({ generation: generation + 2 })],
    ['the largest valid generation', () => ({ generation: 0xfffffffe })],
  ])('a forged refresh token with a correct checksum and %s is refused and ends no session', async (_, change) => {
    const [alice, bob] = [await app.login(), await app.login('bob')];
    const live = [await app.refreshed(alice), await app.refreshed(bob)];
    const claims = parseRefreshToken(alice.refresh_token)!;
    const altered = formatRefreshToken({ ...claims, ...change(claims, bob) }, randomBytes(33));
    await app.refresh(altered).expect(400, INVALID_REFRESH);
    for (const pair of live) await expectUnharmed(app, pair);
  });
});

describeOnEachDatabase('copies of the database', { auth: { refreshReuseGraceSeconds: 60 } }, ({ app }) => {
  it('a copy of the database cannot be used to authenticate or to cause a false reuse', async () => {
    const first = await app.login();
    const live = await app.refreshed(first);
    const row = await app.storedSession(first.session_id);
    const stored = [row.accessDigest, row.refreshDigest, row.familyDigest, row.replayNetworkDigest!];
    const secrets = [...stored.map((digest) => Buffer.from(digest, 'hex')), Buffer.from(row.replaySeed!, 'base64url')];
    const forged = secrets.flatMap((secret) =>
      [0, 1, 2].map((generation) => {
        const claims = { sessionId: row.id, familySecret: secret.subarray(0, 16), generation };
        return formatRefreshToken(claims, Buffer.concat([secret, Buffer.alloc(1)]));
      }),
    );
    for (const token of [...stored, ...secrets.map((secret) => formatAccessToken(row.id, secret))])
      expect(await app.auth.authenticate(token)).toBeNull();
    for (const token of [...stored, ...forged]) await app.refresh(token).expect(400, INVALID_REFRESH);
    await expectUnharmed(app, live);
  });
});

describeOnEachDatabase('refresh tokens that were used before rotation was switched off', {}, ({ app, start }) => {
  it('presenting a token used before rotation was switched off is reuse, and the current token can be used repeatedly', async () => {
    const used = await app.login();
    const { refresh_token: live } = await app.refreshed(used);
    const unrotated = await start({ auth: { rotateRefreshTokens: false } });
    for (let time = 0; time < 3; time++) {
      expect((await unrotated.refresh(live).expect(200)).body.refresh_token).toBe(live);
    }
    await unrotated.refresh(used.refresh_token).expect(400, INVALID_REFRESH);
    expect(unrotated.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 1 } }]);
    await unrotated.refresh(live).expect(400, INVALID_REFRESH);
  });
});
