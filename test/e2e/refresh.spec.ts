import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import {
  eventsOf,
  historyOf,
  INVALID_REFRESH,
  postJson,
  storedEnd,
  storiesOnBothPlatforms,
  type Stage,
} from './stories';

storiesOnBothPlatforms('a refresh', {}, (at: Stage) => {
  it('gives a new pair of the same session and nothing else', async () => {
    const { host } = at;
    const first = await host.login();
    const { body } = await host.refresh(first.refresh_token).expect(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9_-]{48,}$/),
      refresh_token: expect.stringMatching(/^[A-Za-z0-9_-]{48,}$/),
      token_type: 'Bearer',
    });
    const tokens = [first.access_token, first.refresh_token, body.access_token, body.refresh_token];
    expect(new Set(tokens).size).toBe(4);
    const me = await host.get('/me', body.access_token).expect(200);
    expect(me.body.session_id).toBe(first.session_id);
    expect(await eventsOf(host, body.access_token)).toEqual(['token_refresh', 'login_success']);
  });

  it('needs no access token, ignores one that is sent, and ignores fields that it does not know', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    await host
      .post('/auth/token/refresh/', 'garbage', { refresh_token: token, session_id: 'x', other: [] })
      .expect(200);
  });

  it('ends the old access token at once', async () => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    await host.get('/me', first.access_token).expect(401);
  });

  it('goes on for as long as the session does, each time for a new stretch of the refresh time', async () => {
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

  it('is refused at the end of the refresh time, to the millisecond', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    const { refresh_token: other } = await host.login('bob');
    host.clock.advance(7 * DAY - 1);
    await host.refresh(token).expect(200);
    host.clock.advance(1);
    await host.refresh(other).expect(400, INVALID_REFRESH);
  });

  it('is refused alike, to the byte, for every token that is not live', async () => {
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
    ['a wrong checksum', JSON.stringify(`nsar_${'A'.repeat(49)}`)],
    ['JSON', '"{}"'],
  ])('with %s is refused as with any string that is no refresh token', async (_, json) => {
    const answer = await postJson(at.host, '/auth/token/refresh/', `{"refresh_token":${json}}`);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, INVALID_REFRESH]);
  });

  it('is refused with a live token that has something before or behind it, which harms nobody', async () => {
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

  it('moves last_activity and nothing else of the session', async () => {
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

storiesOnBothPlatforms('a refresh token that is used again', {}, (at: Stage) => {
  it('ends its family and every session of that user, and nobody else is touched', async () => {
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

    const [told] = host.sent('token_reuse_detected');
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    expect(told).toMatchObject({
      session: { id: thief.session_id, state: 'revoked' },
      ipAddress: '127.0.0.1',
      userAgent: 'thief',
      reuse: { generationsBehind: 1, usedAt: new Date(host.clock.now()) },
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

  it.each([1, 2, 3, 4, 5])('is noticed %i generations later', async (behind) => {
    const { host } = at;
    const first = await host.login();
    let token = first.refresh_token;
    for (let generation = 0; generation < behind; generation++) {
      token = (await host.refresh(token).expect(200)).body.refresh_token;
    }
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await host.refresh(token).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected').map(({ reuse }) => reuse.generationsBehind)).toEqual([behind]);
  });

  it('changes nothing once its family is dead by the reuse itself', async () => {
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

  it.each(['logout', 'logout/all', 'revocation', 'the host', 'time'])(
    'changes nothing when its session was ended by %s',
    async (by) => {
      const { host } = at;
      const first = await host.login();
      const { body: second } = await host.refresh(first.refresh_token).expect(200);
      if (by === 'logout') await host.post('/auth/logout', second.access_token).expect(200);
      if (by === 'logout/all') await host.post('/auth/logout/all', second.access_token).expect(200);
      if (by === 'time') host.clock.advance(31 * DAY);
      const later = await host.login();
      if (by === 'revocation') {
        await host.delete(`/auth/sessions/${first.session_id}`, later.access_token).expect(200);
      }
      if (by === 'the host') {
        const [user] = await host.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
        await host.auth.revokeSession(user.id, first.session_id);
      }
      const signals = host.signals.length;
      await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
      await host.refresh(second.refresh_token).expect(400, INVALID_REFRESH);
      await host.get('/me', later.access_token).expect(200);
      expect(host.sent('token_reuse_detected')).toEqual([]);
      const told = host.signals.slice(signals).map(({ name }) => name);
      expect(told).toEqual(by === 'time' ? ['user_logged_out'] : []);
      expect(await eventsOf(host, later.access_token)).not.toContain('token_reuse');
    },
  );

  it('is used still past its own expiry, while its session lives', async () => {
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

  it('does not count sessions whose time was over', async () => {
    const { host } = at;
    await host.login();
    host.clock.advance(6 * DAY);
    const first = await host.login();
    host.clock.advance(2 * DAY);
    await host.refresh(first.refresh_token).expect(200);
    await host.refresh(first.refresh_token).expect(400);
    expect(host.sent('token_reuse_detected').map(({ sessionsEnded }) => sessionsEnded)).toEqual([1]);
  });

  it.each([2, 3, 5, 10, 20])('is noticed among %i that are presented at the same time', async (count) => {
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
  });
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

  it('is good again and again, and is never reuse', async () => {
    const { host } = at;
    const first = await host.login();
    for (let time = 0; time < 5; time++) await host.refresh(first.refresh_token).expect(200);
    const answers = await Promise.all(Array.from({ length: 5 }, () => host.refresh(first.refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    expect(host.sent('user_logged_out')).toEqual([]);
  });

  it('slides its time, to the absolute end of the session and no further', async () => {
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

  it('expires when it is not used for the refresh time', async () => {
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
