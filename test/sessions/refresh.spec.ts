import { AuthSession } from 'nestjs-session-auth';
import { randomBytes, randomUUID } from 'node:crypto';
import { sha256 } from '../../libs/auth/src/base/random';
import {
  formatAccessToken,
  formatRefreshToken,
  parseRefreshToken,
  type RefreshTokenClaims,
} from '../../libs/auth/src/tokens/tokens';
import { DAY, MINUTE, SECOND } from '../support/driven-clock';
import type { LoginAnswer, TestApplication } from '../support/test-application';
import {
  emittedEnds,
  eventsOf,
  historyOf,
  INVALID_REFRESH,
  postJson,
  storedEnd,
  storedSession,
  describeOnEachDatabase,
  describeEverywhere,
} from '../support/environment';

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
    expect(await eventsOf(app, body.access_token)).toEqual(['token_refresh', 'login_success']);
  });

  it('a refresh needs no access token, and ignores a sent access token and unknown fields', async () => {
    const { refresh_token: token } = await app.login();
    await app.post('/auth/token/refresh/', 'garbage', { refresh_token: token, session_id: 'x', other: [] }).expect(200);
  });

  it('every refresh token that is not current is refused with a byte-identical response', async () => {
    const present = (token: string) => postJson(app, '/auth/token/refresh/', JSON.stringify({ refresh_token: token }));
    const unknown = await present('unknown');
    expect([unknown.status, JSON.parse(unknown.body)]).toEqual([400, INVALID_REFRESH]);
    const loggedOut = await app.login();
    await app.post('/auth/logout', loggedOut.access_token).expect(200);
    const used = await app.login();
    const expired = await app.login('bob');
    await app.refresh(used.refresh_token).expect(200);
    for (const token of [loggedOut.refresh_token, used.access_token, used.refresh_token, used.refresh_token]) {
      expect((await present(token)).bytes).toBe(unknown.bytes);
    }
    app.clock.advance(31 * DAY);
    expect((await present(expired.refresh_token)).bytes).toBe(unknown.bytes);
  });

  it('a refresh refuses any string that is not a refresh token, also a variation of the current one, which stays valid', async () => {
    const { refresh_token: token } = await app.login();
    const variations = [` ${token}`, `${token} `, `${token}\n`, `${token}\0`, token.toUpperCase(), `Bearer ${token}`];
    const others = [' ', '\0', '\ud800', '\u{1f600}', "' OR 1=1 --", 'x'.repeat(90_000), '{}', 'nsar_'];
    for (const text of [...variations, ...others, `nsar_${'A'.repeat(98)}`]) {
      const { status, body } = await postJson(app, '/auth/token/refresh/', JSON.stringify({ refresh_token: text }));
      expect([text, status, JSON.parse(body)]).toEqual([text, 400, INVALID_REFRESH]);
    }
    await app.refresh(token).expect(200);
  });

  it('a refresh reads no token from the query, a form or a cookie', async () => {
    const { refresh_token: token } = await app.login();
    const required = { refresh_token: ['This field is required.'] };
    await app.http.post(`/auth/token/refresh/?refresh_token=${token}`).expect(400, required);
    await app.http.post('/auth/token/refresh/').set('Cookie', `refresh_token=${token}`).expect(400, required);
    await app.http.post('/auth/token/refresh/').type('form').send({ refresh_token: token }).expect(415);
    await app.refresh(token).expect(200);
  });
});

describeEverywhere('reuse of refresh tokens', {}, ({ app }) => {
  it('a refresh token presented twice ends every session of its user, and none of other users', async () => {
    const thief = await app.login();
    const other = await app.login();
    const bob = await app.login('bob');
    const { body: next } = await app.refresh(thief.refresh_token).expect(200);
    await app.refresh(thief.refresh_token).set('User-Agent', 'thief').expect(400, INVALID_REFRESH);

    await app.get('/me', next.access_token).expect(401);
    await app.refresh(next.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', other.access_token).expect(401);
    await app.refresh(other.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', bob.access_token).expect(200);

    expect(app.sent('token_reuse_detected')).toMatchObject([
      {
        session: { id: thief.session_id, state: 'revoked' },
        ...{ ipAddress: '127.0.0.1', userAgent: 'thief', sessionsEnded: 2 },
        reuse: { generationsBehind: 1, lastRefreshAt: new Date(app.clock.now()) },
      },
    ]);
    expect(app.sent('lost_commits_suspected')).toEqual([]);
    const ended = [thief.session_id, other.session_id].sort();
    expect(emittedEnds(app)).toEqual(ended.map((id) => [id, 'token_reuse']));
    expect(await storedEnd(app, thief.session_id)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });

    const { access_token: later } = await app.login();
    const reuse = (await historyOf(app, later)).filter(({ event }) => event === 'token_reuse');
    expect(reuse.map(({ extra, user_agent }) => [extra, user_agent])).toEqual([
      [{ session_id: thief.session_id, sessions_ended: 2 }, 'thief'],
    ]);
  });

  it.each([1, 2, 5])(
    'presenting the refresh token used %i refreshes ago is reuse, in a family of six refreshes',
    async (behind) => {
      const tokens = [(await app.login()).refresh_token];
      for (let generation = 1; generation <= 6; generation++) {
        app.clock.advance(MINUTE);
        tokens.push((await app.refresh(tokens[generation - 1]!).expect(200)).body.refresh_token);
      }
      const lastRefreshAt = new Date(app.clock.now());
      app.clock.advance(MINUTE);
      await app.refresh(tokens[6 - behind]!).expect(400, INVALID_REFRESH);
      await app.refresh(tokens[6]!).expect(400, INVALID_REFRESH);
      expect(app.sent('token_reuse_detected').map(({ reuse }) => reuse)).toEqual([
        { generationsBehind: behind, lastRefreshAt },
      ]);
    },
  );

  it('presenting a used refresh token changes nothing once its family has been revoked by reuse', async () => {
    const first = await app.login();
    const { body: second } = await app.refresh(first.refresh_token).expect(200);
    await app.refresh(second.refresh_token).expect(200);
    await app.refresh(first.refresh_token).expect(400);
    const later = await app.login();
    for (const token of [first.refresh_token, second.refresh_token, first.refresh_token]) {
      await app.refresh(token).expect(400, INVALID_REFRESH);
    }
    await app.get('/me', later.access_token).expect(200);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
    expect((await eventsOf(app, later.access_token)).filter((event) => event === 'token_reuse')).toHaveLength(1);
  });

  it('presenting a used refresh token is reuse even after the token has expired, as long as its session is active', async () => {
    const first = await app.login();
    let { refresh_token: token, access_token: access } = first;
    for (let time = 0; time < 2; time++) {
      app.clock.advance(6 * DAY);
      ({ refresh_token: token, access_token: access } = (await app.refresh(token).expect(200)).body);
    }
    await app.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', access).expect(401);
    expect(app.sent('token_reuse_detected').map(({ reuse }) => reuse.generationsBehind)).toEqual([2]);
  });

  it.each([2, 20])(
    'a refresh token presented %i times in parallel is refreshed once, and reuse is reported once',
    async (count) => {
      const first = await app.login();
      const other = await app.login();
      const answers = await Promise.all(Array.from({ length: count }, () => app.refresh(first.refresh_token)));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused.map(({ status, body }) => [status, body])).toEqual(Array(count - 1).fill([400, INVALID_REFRESH]));
      const winner = answers.find(({ status }) => status === 200)!.body;
      for (const { access_token: token } of [winner, other]) await app.get('/me', token).expect(401);
      await app.refresh(winner.refresh_token).expect(400, INVALID_REFRESH);
      expect(app.sent('token_reuse_detected').map(({ sessionsEnded }) => sessionsEnded)).toEqual([2]);
      expect(app.sent('user_logged_out')).toHaveLength(2);
      const [, ...events] = await eventsOf(app, (await app.login()).access_token);
      expect(events).toEqual(['token_reuse', 'token_refresh', 'login_success', 'login_success']);
    },
  );
});

describeEverywhere('refresh without rotation', { auth: { rotateRefreshTokens: false } }, ({ app }) => {
  it('a refresh returns a new access token and the same refresh token, also repeatedly and in parallel', async () => {
    const first = await app.login();
    const { body } = await app.refresh(first.refresh_token).expect(200);
    const { refresh_token } = first;
    expect(body).toEqual({ access_token: expect.any(String), refresh_token, token_type: 'Bearer' });
    expect(body.access_token).not.toBe(first.access_token);
    await app.get('/me', first.access_token).expect(401);
    await app.get('/me', body.access_token).expect(200);
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.refresh(refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect([...app.sent('token_reuse_detected'), ...app.sent('user_logged_out')]).toEqual([]);
  });

  it('a refresh renews the lifetime of the unchanged refresh token, up to the absolute timeout of the session', async () => {
    const { refresh_token: token } = await app.login();
    const { refresh_token: unused } = await app.login('bob');
    for (let day = 0; day < 24; day += 6) {
      app.clock.advance(6 * DAY);
      await app.refresh(token).expect(200);
    }
    await app.refresh(unused).expect(400, INVALID_REFRESH);
    app.clock.advance(6 * DAY - MINUTE);
    await app.refresh(token).expect(200);
    app.clock.advance(MINUTE);
    await app.refresh(token).expect(400, INVALID_REFRESH);
  });
});

/** Restores an older copy of the session, as a restored backup does, or a failover that lost the last commits. */
async function restore(app: TestApplication, copy: AuthSession): Promise<void> {
  await app.dataSource.getRepository(AuthSession).update({ id: copy.id }, copy);
}

/** Asserts that the session is active, and that no reuse and no end of a session was emitted. */
async function expectUnharmed(app: TestApplication, refreshToken: string): Promise<void> {
  const { body } = await app.refresh(refreshToken).expect(200);
  await app.get('/me', body.access_token).expect(200);
  expect(app.sent('token_reuse_detected')).toEqual([]);
  expect(app.sent('user_logged_out')).toEqual([]);
}

describeOnEachDatabase('refresh tokens that are newer than the database', {}, ({ app }) => {
  it.each([1, 3])(
    'a token from the last of %i refreshes that the database lost is refused, and the session continues with the older token',
    async (lost) => {
      const { session_id: id, refresh_token: first } = await app.login();
      const { body: older } = await app.refresh(first).expect(200);
      const copy = await storedSession(app, id);
      let newer = older;
      for (let i = 0; i < lost; i++) newer = (await app.refresh(newer.refresh_token).expect(200)).body;
      await restore(app, copy);
      await app.refresh(newer.refresh_token).expect(400, INVALID_REFRESH);
      await app.get('/me', newer.access_token).expect(401);
      await app.get('/me', older.access_token).expect(200);
      await expectUnharmed(app, older.refresh_token);
    },
  );

  it('a token of lost commits is refused after the session was refreshed again to the same generation', async () => {
    const { session_id: id, refresh_token: first } = await app.login();
    const copy = await storedSession(app, id);
    const { body: lost } = await app.refresh(first).expect(200);
    await restore(app, copy);
    const { body: live } = await app.refresh(first).expect(200);
    await app.refresh(lost.refresh_token).expect(400, INVALID_REFRESH);
    await expectUnharmed(app, live.refresh_token);
  });

  it('a token newer than the database causes lost_commits_suspected at most once a minute, and ends no session', async () => {
    app.clock.advance(60 * SECOND);
    const { session_id: id, refresh_token: first } = await app.login();
    const copy = await storedSession(app, id);
    const { body: lost } = await app.refresh(first).expect(200);
    await restore(app, copy);
    for (let i = 0; i < 3; i++) await app.refresh(lost.refresh_token).expect(400, INVALID_REFRESH);
    const { userId } = app.sent('user_logged_in')[0]!;
    expect(app.sent('lost_commits_suspected')).toMatchObject([{ userId, session: { id, state: 'active' } }]);
    app.clock.advance(60 * SECOND - 1);
    await app.refresh(lost.refresh_token).expect(400);
    expect(app.sent('lost_commits_suspected')).toHaveLength(1);
    app.clock.advance(1);
    await app.refresh(lost.refresh_token).expect(400);
    expect(app.sent('lost_commits_suspected')).toHaveLength(2);
    await expectUnharmed(app, first);
  });
});

describeOnEachDatabase('forged and altered refresh tokens', {}, ({ app, tap }) => {
  it('a refresh token with one altered character is refused by its checksum, without a query, and is never reuse', async () => {
    const { refresh_token: used } = await app.login();
    const { body: live } = await app.refresh(used).expect(200);
    const statements: string[] = [];
    tap.hook = { before: ({ sql }) => void statements.push(sql) };
    for (const token of [used, live.refresh_token as string]) {
      for (let position = 0; position < token.length; position += 3) {
        const other = token[position] === 'A' ? 'B' : 'A';
        const altered = token.slice(0, position) + other + token.slice(position + 1);
        await expect(app.auth.refresh(altered)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
      }
    }
    tap.hook = {};
    expect(statements).toEqual([]);
    await expectUnharmed(app, live.refresh_token);
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
    const { body: live } = await app.refresh(alice.refresh_token).expect(200);
    const { body: bobs } = await app.refresh(bob.refresh_token).expect(200);
    const claims = parseRefreshToken(alice.refresh_token)!;
    const altered = formatRefreshToken({ ...claims, ...change(claims, bob) }, randomBytes(33));
    await app.refresh(altered).expect(400, INVALID_REFRESH);
    await expectUnharmed(app, live.refresh_token);
    await expectUnharmed(app, bobs.refresh_token);
  });

  it('a family near the largest generation can be refreshed, and presenting a used token of it is reuse', async () => {
    const { session_id: id, refresh_token: first } = await app.login();
    const used = formatRefreshToken({ ...parseRefreshToken(first)!, generation: 0xfffffffd }, randomBytes(33));
    const row = { refreshDigest: sha256(used), generation: 0xfffffffd };
    await app.dataSource.getRepository(AuthSession).update({ id }, row);
    const { body: last } = await app.refresh(used).expect(200);
    expect(parseRefreshToken(last.refresh_token)).toMatchObject({ generation: 0xfffffffe });
    await app.refresh(used).expect(400, INVALID_REFRESH);
    expect(app.sent('token_reuse_detected').map(({ reuse }) => reuse.generationsBehind)).toEqual([1]);
  });
});

describeOnEachDatabase('copies of the database', { auth: { refreshReuseGraceSeconds: 60 } }, ({ app }) => {
  it('a copy of the database cannot be used to authenticate or to cause a false reuse', async () => {
    const first = await app.login();
    const { body: live } = await app.refresh(first.refresh_token).expect(200);
    const row = await storedSession(app, first.session_id);
    const stored = [row.accessDigest, row.refreshDigest, row.familyDigest, row.replayNetworkDigest!];
    const secrets = [...stored.map((digest) => Buffer.from(digest, 'hex')), Buffer.from(row.replaySeed!, 'base64url')];
    for (const secret of secrets) {
      expect(await app.auth.authenticate(formatAccessToken(row.id, secret))).toBeNull();
      for (const generation of [0, 1, 2]) {
        const claims = { sessionId: row.id, familySecret: secret.subarray(0, 16), generation };
        const forged = formatRefreshToken(claims, Buffer.concat([secret, Buffer.alloc(1)]));
        await expect(app.auth.refresh(forged)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
      }
    }
    for (const digest of stored) {
      expect(await app.auth.authenticate(digest)).toBeNull();
      await app.refresh(digest).expect(400, INVALID_REFRESH);
    }
    await expectUnharmed(app, live.refresh_token);
  });
});

describeOnEachDatabase('refresh tokens that were used before rotation was switched off', {}, ({ app, start }) => {
  it('presenting a token used before rotation was switched off is reuse, and the current token can be used repeatedly', async () => {
    const { refresh_token: used } = await app.login();
    const { body: live } = await app.refresh(used).expect(200);
    const unrotated = await start({ auth: { rotateRefreshTokens: false } });
    for (let time = 0; time < 3; time++) {
      const { body } = await unrotated.refresh(live.refresh_token).expect(200);
      expect(body.refresh_token).toBe(live.refresh_token);
    }
    await unrotated.refresh(used).expect(400, INVALID_REFRESH);
    expect(unrotated.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 1 } }]);
    await unrotated.refresh(live.refresh_token).expect(400, INVALID_REFRESH);
  });
});
