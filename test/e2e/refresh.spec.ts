import { AuthSession } from 'nestjs-session-auth';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  formatAccessToken,
  formatRefreshToken,
  parseRefreshToken,
  type RefreshTokenClaims,
} from '../../libs/auth/src/domain/tokens';
import { DAY, HOUR, MINUTE, SECOND } from '../support/driven-clock';
import { Host, type LoginAnswer } from '../support/host';
import { Tap } from '../support/tap';
import {
  eventsOf,
  historyOf,
  INVALID_REFRESH,
  postJson,
  storedEnd,
  stories,
  storiesOnBothPlatforms,
  type Stage,
} from './stories';

storiesOnBothPlatforms('a refresh', {}, (at: Stage) => {
  it('returns a new pair of the same session and nothing else', async () => {
    const { host } = at;
    const first = await host.login();
    const { body } = await host.refresh(first.refresh_token).expect(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^nsaa_[A-Za-z0-9_-]{70}$/),
      refresh_token: expect.stringMatching(/^nsar_[A-Za-z0-9_-]{98}$/),
      token_type: 'Bearer',
    });
    const tokens = [first.access_token, first.refresh_token, body.access_token, body.refresh_token];
    expect(new Set(tokens).size).toBe(4);
    const me = await host.get('/me', body.access_token).expect(200);
    expect(me.body.session_id).toBe(first.session_id);
    expect(await eventsOf(host, body.access_token)).toEqual(['token_refresh', 'login_success']);
  });

  it('needs no access token, and ignores one that is sent and unknown fields', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    await host
      .post('/auth/token/refresh/', 'garbage', { refresh_token: token, session_id: 'x', other: [] })
      .expect(200);
  });

  it('revokes the previous access token immediately', async () => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    await host.get('/me', first.access_token).expect(401);
  });

  it('renews the lifetime of the refresh token each time, up to the absolute timeout of the session', async () => {
    const { host } = at;
    let { refresh_token: token } = await host.login();
    for (let day = 6; day < 30; day += 6) {
      host.clock.advance(6 * DAY);
      token = (await host.refresh(token).expect(200)).body.refresh_token;
    }
    host.clock.advance(6 * DAY - 1);
    token = (await host.refresh(token).expect(200)).body.refresh_token;
    host.clock.advance(1);
    await host.refresh(token).expect(400, INVALID_REFRESH);
  });

  it('is refused when the refresh token has expired, to the millisecond', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    const { refresh_token: other } = await host.login('bob');
    host.clock.advance(7 * DAY - 1);
    await host.refresh(token).expect(200);
    host.clock.advance(1);
    await host.refresh(other).expect(400, INVALID_REFRESH);
  });

  it('is refused with the same response, to the byte, for every token that is not live', async () => {
    const { host } = at;
    const present = (token: string) => postJson(host, '/auth/token/refresh/', JSON.stringify({ refresh_token: token }));
    const unknown = await present('unknown');
    expect([unknown.status, JSON.parse(unknown.body)]).toEqual([400, INVALID_REFRESH]);
    const loggedOut = await host.login();
    await host.post('/auth/logout', loggedOut.access_token).expect(200);
    const used = await host.login();
    const expired = await host.login('bob');
    await host.refresh(used.refresh_token).expect(200);
    expect((await present(loggedOut.refresh_token)).bytes).toBe(unknown.bytes);
    expect((await present(used.access_token)).bytes).toBe(unknown.bytes);
    expect((await present(used.refresh_token)).bytes).toBe(unknown.bytes);
    expect((await present(used.refresh_token)).bytes).toBe(unknown.bytes);
    host.clock.advance(31 * DAY);
    expect((await present(expired.refresh_token)).bytes).toBe(unknown.bytes);
  });

  it.each([
    ['one space', '" "'],
    ['a NUL', '"\\u0000"'],
    ['half of a surrogate pair', '"\\ud800"'],
    ['an emoji', '"\u{1f600}"'],
    ['SQL', '"\' OR 1=1 --"'],
    ['90 kB', JSON.stringify('x'.repeat(90_000))],
    ['a prefix', '"nsar_"'],
    ['a wrong checksum', JSON.stringify(`nsar_${'A'.repeat(98)}`)],
    ['JSON', '"{}"'],
  ])('with %s is refused like any string that is not a refresh token', async (_, json) => {
    const answer = await postJson(at.host, '/auth/token/refresh/', `{"refresh_token":${json}}`);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, INVALID_REFRESH]);
  });

  it('is refused with a live token that has something before or after it, and the token stays live', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    for (const other of [
      ` ${token}`,
      `${token} `,
      `${token}\n`,
      `${token}\0`,
      token.toUpperCase(),
      `Bearer ${token}`,
    ]) {
      await host.refresh(other).expect(400, INVALID_REFRESH);
    }
    await host.refresh(token).expect(200);
  });

  it('reads no token from the query, a form or a cookie', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    const required = { refresh_token: ['This field is required.'] };
    await host.http.post(`/auth/token/refresh/?refresh_token=${token}`).expect(400, required);
    await host.http.post('/auth/token/refresh/').set('Cookie', `refresh_token=${token}`).expect(400, required);
    await host.http.post('/auth/token/refresh/').type('form').send({ refresh_token: token }).expect(415);
    await host.refresh(token).expect(200);
  });

  it('updates last_activity and nothing else of the session', async () => {
    const { host } = at;
    const first = await host.login();
    const [before] = (await host.get('/auth/sessions', first.access_token)).body;
    host.clock.advance(HOUR);
    const { body } = await host.refresh(first.refresh_token).expect(200);
    const [after] = (await host.get('/auth/sessions', body.access_token)).body;
    expect(after).toEqual({ ...before, last_activity: new Date(host.clock.now()).toISOString() });
    expect(Date.parse(after.last_activity) - Date.parse(before.last_activity)).toBe(HOUR);
  });
});

storiesOnBothPlatforms('a refresh token presented again', {}, (at: Stage) => {
  it('revokes its family and ends every session of its user, and none of other users', async () => {
    const { host } = at;
    const thief = await host.login();
    const other = await host.login();
    const bob = await host.login('bob');
    const { body: next } = await host.refresh(thief.refresh_token).expect(200);
    await host.refresh(thief.refresh_token).set('User-Agent', 'thief').expect(400, INVALID_REFRESH);

    await host.get('/me', next.access_token).expect(401);
    await host.refresh(next.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', other.access_token).expect(401);
    await host.refresh(other.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', bob.access_token).expect(200);

    const [signal] = host.sent('token_reuse_detected');
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    expect(signal).toMatchObject({
      session: { id: thief.session_id, state: 'revoked' },
      ipAddress: '127.0.0.1',
      userAgent: 'thief',
      reuse: { generationsBehind: 1, lastRefreshAt: new Date(host.clock.now()) },
      sessionsEnded: 2,
    });
    const ends = host.sent('user_logged_out').map(({ session, reason }) => [session.id, reason]);
    expect(ends.sort()).toEqual(
      [
        [thief.session_id, 'token_reuse'],
        [other.session_id, 'token_reuse'],
      ].sort(),
    );
    expect(await storedEnd(host, thief.session_id)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });

    const { access_token: later } = await host.login();
    const reuse = (await historyOf(host, later)).filter(({ event }) => event === 'token_reuse');
    expect(reuse.map(({ extra, user_agent }) => [extra, user_agent])).toEqual([
      [{ session_id: thief.session_id, sessions_ended: 2 }, 'thief'],
    ]);
  });

  it.each([1, 2, 5])('is reuse, %i generations back in a family of six refreshes', async (behind) => {
    const { host } = at;
    const tokens = [(await host.login()).refresh_token];
    for (let generation = 1; generation <= 6; generation++) {
      host.clock.advance(MINUTE);
      tokens.push((await host.refresh(tokens[generation - 1]!).expect(200)).body.refresh_token);
    }
    const lastRefreshAt = new Date(host.clock.now());
    host.clock.advance(MINUTE);
    await host.refresh(tokens[6 - behind]!).expect(400, INVALID_REFRESH);
    await host.refresh(tokens[6]!).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected').map(({ reuse }) => reuse)).toEqual([
      { generationsBehind: behind, lastRefreshAt },
    ]);
  });

  it('changes nothing once its family has been revoked by reuse', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: second } = await host.refresh(first.refresh_token).expect(200);
    await host.refresh(second.refresh_token).expect(200);
    await host.refresh(first.refresh_token).expect(400);
    const later = await host.login();
    for (const token of [first.refresh_token, second.refresh_token, first.refresh_token]) {
      await host.refresh(token).expect(400, INVALID_REFRESH);
    }
    await host.get('/me', later.access_token).expect(200);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    expect((await eventsOf(host, later.access_token)).filter((event) => event === 'token_reuse')).toHaveLength(1);
  });

  it.each(['logout', 'logout/all', 'revocation', 'the application', 'expiry'])(
    'changes nothing when its session was ended by %s',
    async (by) => {
      const { host } = at;
      const first = await host.login();
      const { body: second } = await host.refresh(first.refresh_token).expect(200);
      if (by === 'logout') await host.post('/auth/logout', second.access_token).expect(200);
      if (by === 'logout/all') await host.post('/auth/logout/all', second.access_token).expect(200);
      if (by === 'expiry') host.clock.advance(31 * DAY);
      const later = await host.login();
      if (by === 'revocation') {
        await host.delete(`/auth/sessions/${first.session_id}`, later.access_token).expect(200);
      }
      if (by === 'the application') {
        const [user] = await host.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
        await host.auth.revokeSession(user.id, first.session_id);
      }
      const signals = host.signals.length;
      await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
      await host.refresh(second.refresh_token).expect(400, INVALID_REFRESH);
      await host.get('/me', later.access_token).expect(200);
      expect(host.sent('token_reuse_detected')).toEqual([]);
      const emitted = host.signals.slice(signals).map(({ name }) => name);
      expect(emitted).toEqual(by === 'expiry' ? ['user_logged_out'] : []);
      expect(await eventsOf(host, later.access_token)).not.toContain('token_reuse');
    },
  );

  it('is reuse past its own expiry too, while its session lives', async () => {
    const { host } = at;
    const first = await host.login();
    host.clock.advance(6 * DAY);
    const second = (await host.refresh(first.refresh_token).expect(200)).body;
    host.clock.advance(6 * DAY);
    const third = (await host.refresh(second.refresh_token).expect(200)).body;
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', third.access_token).expect(401);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    expect(host.sent('token_reuse_detected')[0]!.reuse.generationsBehind).toBe(2);
  });

  it('does not count expired sessions among those that it ends', async () => {
    const { host } = at;
    await host.login();
    host.clock.advance(6 * DAY);
    const first = await host.login();
    host.clock.advance(2 * DAY);
    await host.refresh(first.refresh_token).expect(200);
    await host.refresh(first.refresh_token).expect(400);
    expect(host.sent('token_reuse_detected').map(({ sessionsEnded }) => sessionsEnded)).toEqual([1]);
  });

  it.each([2, 3, 5, 10, 20])(
    'is reuse when it is presented %i times in parallel: one refresh succeeds, and the alarm is raised once',
    async (count) => {
      const { host } = at;
      const first = await host.login();
      const other = await host.login();
      const answers = await Promise.all(Array.from({ length: count }, () => host.refresh(first.refresh_token)));
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array<number>(count - 1).fill(400)]);
      for (const { body } of answers.filter(({ status }) => status === 400)) expect(body).toEqual(INVALID_REFRESH);
      const winner = answers.find(({ status }) => status === 200)!.body;
      await host.get('/me', winner.access_token).expect(401);
      await host.refresh(winner.refresh_token).expect(400, INVALID_REFRESH);
      await host.get('/me', other.access_token).expect(401);
      expect(host.sent('token_reuse_detected').map(({ sessionsEnded }) => sessionsEnded)).toEqual([2]);
      expect(host.sent('user_logged_out')).toHaveLength(2);
      const later = await host.login();
      expect(await eventsOf(host, later.access_token)).toEqual([
        'login_success',
        'token_reuse',
        'token_refresh',
        'login_success',
        'login_success',
      ]);
    },
  );
});

storiesOnBothPlatforms('a refresh without rotation', { auth: { rotateRefreshTokens: false } }, (at: Stage) => {
  it('has the same fields, a new access token and the same refresh token', async () => {
    const { host } = at;
    const first = await host.login();
    const { body } = await host.refresh(first.refresh_token).expect(200);
    expect(body).toEqual({
      access_token: expect.any(String),
      refresh_token: first.refresh_token,
      token_type: 'Bearer',
    });
    expect(body.access_token).not.toBe(first.access_token);
    await host.get('/me', first.access_token).expect(401);
    await host.get('/me', body.access_token).expect(200);
  });

  it('can be repeated with the same token, which is never reuse', async () => {
    const { host } = at;
    const first = await host.login();
    for (let time = 0; time < 5; time++) await host.refresh(first.refresh_token).expect(200);
    const answers = await Promise.all(Array.from({ length: 5 }, () => host.refresh(first.refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    expect(host.sent('user_logged_out')).toEqual([]);
  });

  it('renews the lifetime of the refresh token, up to the absolute timeout of the session', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    for (let day = 0; day < 24; day += 6) {
      host.clock.advance(6 * DAY);
      await host.refresh(token).expect(200);
    }
    host.clock.advance(6 * DAY - MINUTE);
    await host.refresh(token).expect(200);
    host.clock.advance(MINUTE);
    await host.refresh(token).expect(400, INVALID_REFRESH);
  });

  it('is refused when the refresh token has expired', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    host.clock.advance(7 * DAY);
    await host.refresh(token).expect(400, INVALID_REFRESH);
  });

  it('is refused when the session has ended', async () => {
    const { host } = at;
    const first = await host.login();
    await host.post('/auth/logout', first.access_token).expect(200);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });
});

/** The session as the database holds it. */
function storedSession({ host }: Stage, id: string): Promise<AuthSession> {
  return host.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
}

/** Puts an older copy of the session back, as a restored backup does, or a failover that lost the last commits. */
async function restore({ host }: Stage, copy: AuthSession): Promise<void> {
  await host.dataSource.getRepository(AuthSession).update({ id: copy.id }, copy);
}

/** Nothing of the session has ended, and nothing was reported. */
async function expectUnharmed({ host }: Stage, refreshToken: string): Promise<void> {
  const { body } = await host.refresh(refreshToken).expect(200);
  await host.get('/me', body.access_token).expect(200);
  expect(host.sent('token_reuse_detected')).toEqual([]);
  expect(host.sent('user_logged_out')).toEqual([]);
}

stories('a refresh token that is newer than the database', {}, (at: Stage) => {
  it.each([1, 3])('is refused, and the session goes on with the older token: %i lost refreshes', async (lost) => {
    const { host } = at;
    const { session_id: id, refresh_token: first } = await host.login();
    const { body: older } = await host.refresh(first).expect(200);
    const copy = await storedSession(at, id);
    let newer = older;
    for (let refresh = 0; refresh < lost; refresh++) newer = (await host.refresh(newer.refresh_token).expect(200)).body;
    await restore(at, copy);
    await host.refresh(newer.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', newer.access_token).expect(401);
    await host.get('/me', older.access_token).expect(200);
    await expectUnharmed(at, older.refresh_token);
  });

  it('is refused where the session has been refreshed since, by another token of the same generation', async () => {
    const { host } = at;
    const { session_id: id, refresh_token: first } = await host.login();
    const copy = await storedSession(at, id);
    const { body: lost } = await host.refresh(first).expect(200);
    await restore(at, copy);
    const { body: live } = await host.refresh(first).expect(200);
    await host.refresh(lost.refresh_token).expect(400, INVALID_REFRESH);
    await expectUnharmed(at, live.refresh_token);
  });

  it('is emitted as suspected lost commits, once a minute and without an end of sessions', async () => {
    const { host } = at;
    host.clock.advance(60 * SECOND);
    const { session_id: id, refresh_token: first } = await host.login();
    const copy = await storedSession(at, id);
    const { body: lost } = await host.refresh(first).expect(200);
    await restore(at, copy);
    for (let i = 0; i < 3; i++) await host.refresh(lost.refresh_token).expect(400, INVALID_REFRESH);
    const { userId } = host.sent('user_logged_in')[0]!;
    expect(host.sent('lost_commits_suspected')).toMatchObject([{ userId, session: { id, state: 'active' } }]);
    host.clock.advance(60 * SECOND - 1);
    await host.refresh(lost.refresh_token).expect(400);
    expect(host.sent('lost_commits_suspected')).toHaveLength(1);
    host.clock.advance(1);
    await host.refresh(lost.refresh_token).expect(400);
    expect(host.sent('lost_commits_suspected')).toHaveLength(2);
  });

  it('is not suspected where the token is no genuine one: of another family, or used', async () => {
    const { host } = at;
    host.clock.advance(60 * SECOND);
    const { refresh_token: token } = await host.login();
    const forged = { ...parseRefreshToken(token)!, familySecret: randomBytes(16), generation: 7 };
    await host.refresh(formatRefreshToken(forged, randomBytes(33))).expect(400);
    await host.refresh(token).expect(200);
    await host.refresh(token).expect(400);
    expect(host.sent('lost_commits_suspected')).toEqual([]);
  });
});

stories('a refresh token that was altered', {}, (at: Stage) => {
  let tap: Tap;
  beforeAll(() => void (tap = new Tap(at.host)));

  it('in any one character is refused by its checksum, without a query, and never looks like reuse', async () => {
    const { host } = at;
    const { refresh_token: used } = await host.login();
    const { body: live } = await host.refresh(used).expect(200);
    const statements: string[] = [];
    tap.hook = { before: ({ sql }) => void statements.push(sql) };
    for (const token of [used, live.refresh_token as string]) {
      for (let position = 0; position < token.length; position += 3) {
        const other = token[position] === 'A' ? 'B' : 'A';
        const altered = token.slice(0, position) + other + token.slice(position + 1);
        await expect(host.auth.refresh(altered)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
      }
    }
    tap.hook = {};
    expect(statements).toEqual([]);
    await expectUnharmed(at, live.refresh_token);
  });

  it.each<[string, (claims: RefreshTokenClaims, other: LoginAnswer) => Partial<RefreshTokenClaims>]>([
    ['family secret', () => ({ familySecret: randomBytes(16) })],
    ['session id', () => ({ sessionId: randomUUID() })],
    ["session id, to that of another's session", (_, other) => ({ sessionId: other.session_id })],
    ['generation, to that of the live token', ({ generation }) => ({ generation: generation + 1 })],
    ['generation, to a later one', ({ generation }) => ({ generation: generation + 2 })],
    ['generation, to the last one that there is', () => ({ generation: 0xfffffffe })],
  ])('with a correct checksum is refused and harms no session: %s', async (_, change) => {
    const { host } = at;
    const [alice, bob] = [await host.login(), await host.login('bob')];
    const { body: live } = await host.refresh(alice.refresh_token).expect(200);
    const { body: bobs } = await host.refresh(bob.refresh_token).expect(200);
    const claims = parseRefreshToken(alice.refresh_token)!;
    const altered = formatRefreshToken({ ...claims, ...change(claims, bob) }, randomBytes(33));
    await host.refresh(altered).expect(400, INVALID_REFRESH);
    await expectUnharmed(at, live.refresh_token);
    await expectUnharmed(at, bobs.refresh_token);
  });

  it('to the generation 0xFFFFFFFF is not a token, and is refused without a query', async () => {
    const { host } = at;
    const { refresh_token: used } = await host.login();
    const { body: live } = await host.refresh(used).expect(200);
    const claims = { ...parseRefreshToken(used)!, generation: 0xffffffff };
    const statements: string[] = [];
    tap.hook = { before: ({ sql }) => void statements.push(sql) };
    await host.refresh(formatRefreshToken(claims, randomBytes(33))).expect(400, INVALID_REFRESH);
    tap.hook = {};
    expect(statements).toEqual([]);
    await expectUnharmed(at, live.refresh_token);
  });
});

stories('a token family near the largest generation', {}, (at: Stage) => {
  it('is refreshed like any other, and its used tokens are reuse', async () => {
    const { host } = at;
    const { session_id: id, refresh_token: first } = await host.login();
    const used = formatRefreshToken({ ...parseRefreshToken(first)!, generation: 0xfffffffd }, randomBytes(33));
    const refreshDigest = createHash('sha256').update(used).digest('hex');
    await host.dataSource.getRepository(AuthSession).update({ id }, { refreshDigest, generation: 0xfffffffd });
    const { body: last } = await host.refresh(used).expect(200);
    expect(parseRefreshToken(last.refresh_token)).toMatchObject({ generation: 0xfffffffe });
    await host.refresh(used).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected').map(({ reuse }) => reuse.generationsBehind)).toEqual([1]);
  });
});

stories('a copy of the database', { auth: { refreshReuseGraceSeconds: 60 } }, (at: Stage) => {
  it('cannot be used to authenticate or to raise a false alarm', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: live } = await host.refresh(first.refresh_token).expect(200);
    const row = await storedSession(at, first.session_id);
    const stored = [row.accessDigest, row.refreshDigest, row.familyDigest, row.replayNetworkDigest!];
    const secrets = [...stored.map((digest) => Buffer.from(digest, 'hex')), Buffer.from(row.replaySeed!, 'base64url')];
    for (const secret of secrets) {
      expect(await host.auth.authenticate(formatAccessToken(row.id, secret))).toBeNull();
      for (const generation of [0, 1, 2]) {
        const claims = { sessionId: row.id, familySecret: secret.subarray(0, 16), generation };
        const forged = formatRefreshToken(claims, Buffer.concat([secret, Buffer.alloc(1)]));
        await expect(host.auth.refresh(forged)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
      }
    }
    for (const digest of stored) {
      expect(await host.auth.authenticate(digest)).toBeNull();
      await host.refresh(digest).expect(400, INVALID_REFRESH);
    }
    await expectUnharmed(at, live.refresh_token);
  });
});

stories('a refresh token that was used before rotation was switched off', {}, (at: Stage) => {
  it('remains used: presenting it is reuse, while the live one can be presented repeatedly', async () => {
    const { host, database } = at;
    const { refresh_token: used } = await host.login();
    const { body: live } = await host.refresh(used).expect(200);
    const unrotated = await Host.start({ database, auth: { rotateRefreshTokens: false }, users: [] });
    try {
      for (let time = 0; time < 3; time++) {
        const { body } = await unrotated.refresh(live.refresh_token).expect(200);
        expect(body.refresh_token).toBe(live.refresh_token);
      }
      await unrotated.refresh(used).expect(400, INVALID_REFRESH);
      expect(unrotated.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 1 } }]);
      await unrotated.refresh(live.refresh_token).expect(400, INVALID_REFRESH);
    } finally {
      await unrotated.close();
    }
  });
});
