import { randomUUID } from 'node:crypto';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import {
  historyOf,
  INVALID_REFRESH,
  sendRaw,
  storedEnd,
  describeOnBothPlatforms,
  TIMESTAMP,
  UUID,
  type TestEnvironment,
} from '../support/environment';

const PHONE =
  'Mozilla/5.0 (Linux; Android 13; SM-G991B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/116.0.0.0 Mobile Safari/537.36';
const LAPTOP =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1';

interface Listed {
  readonly id: string;
  readonly is_current: boolean;
  readonly [field: string]: unknown;
}

describeOnBothPlatforms('the list of sessions', {}, (env: TestEnvironment) => {
  const list = async (token: string): Promise<Listed[]> =>
    (await env.app.get('/auth/sessions/', token).expect(200)).body as Listed[];

  it('a listed session has exactly the documented fields', async () => {
    const { app } = env;
    const { access_token: token, session_id: id } = await app.login('alice', undefined, PHONE);
    const now = new Date(app.clock.now()).toISOString();
    expect(await list(token)).toEqual([
      {
        id,
        state: 'active',
        ip_address: '127.0.0.1',
        device_type: 'mobile',
        os_family: 'Android',
        browser_family: 'Chrome Mobile',
        device_name: 'Samsung SM-G991B',
        created_at: now,
        last_activity: now,
        is_current: true,
      },
    ]);
    expect(id).toMatch(UUID);
    expect(now).toMatch(TIMESTAMP);
  });

  it.each([
    [LAPTOP, ['desktop', 'Windows', 'Chrome']],
    [IPHONE, ['mobile', 'iOS', 'Mobile Safari', 'iPhone']],
    ['test', ['other', 'Other', 'Other', 'Other']],
    ['\u00ff'.repeat(300), ['other', 'Other', 'Other', 'Other']],
  ])('the list shows the device of %s', async (userAgent, [deviceType, os, browser, name]) => {
    const { access_token: token } = await env.app.login('alice', undefined, userAgent);
    const [session] = await list(token);
    expect(session).toMatchObject({ device_type: deviceType, os_family: os, browser_family: browser });
    if (name) expect(session!['device_name']).toBe(name);
  });

  it('the list shows Other for a client without a User-Agent header', async () => {
    const { app } = env;
    const body = JSON.stringify({ username: 'alice', password: 'correct horse battery staple' });
    const answer = await sendRaw(
      app,
      ['POST /auth/login HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`],
      body,
    );
    const [session] = await list(JSON.parse(answer.body).access_token);
    expect(session).toMatchObject({ device_type: 'other', os_family: 'Other', browser_family: 'Other' });
  });

  it('the list is ordered by created_at, newest first, whatever was active last', async () => {
    const { app } = env;
    const logins = [];
    for (let time = 0; time < 4; time++) {
      logins.push(await app.login());
      app.clock.advance(MINUTE);
    }
    const { body } = await app.refresh(logins[0]!.refresh_token).expect(200);
    const ids = (await list(body.access_token)).map(({ id }) => id);
    expect(ids).toEqual(logins.map((login) => login.session_id).reverse());
  });

  it('the list marks only the session of the request as current, also after a refresh', async () => {
    const { app } = env;
    const one = await app.login();
    const two = await app.login();
    const current = async (token: string) => (await list(token)).filter((one) => one.is_current).map(({ id }) => id);
    expect(await current(one.access_token)).toEqual([one.session_id]);
    expect(await current(two.access_token)).toEqual([two.session_id]);
    const { body } = await app.refresh(one.refresh_token).expect(200);
    expect(await current(body.access_token)).toEqual([one.session_id]);
  });

  it('the list contains only sessions of the user', async () => {
    const alice = await env.app.login();
    const bob = await env.app.login('bob');
    expect((await list(alice.access_token)).map(({ id }) => id)).toEqual([alice.session_id]);
    expect((await list(bob.access_token)).map(({ id }) => id)).toEqual([bob.session_id]);
  });

  it('the list contains no ended or expired session, and emits an expiry once', async () => {
    const { app } = env;
    const old = await app.login();
    app.clock.advance(6 * DAY);
    const ended = await app.login();
    await app.post('/auth/logout', ended.access_token).expect(200);
    app.clock.advance(DAY);
    const now = await app.login();
    for (let time = 0; time < 3; time++) {
      expect((await list(now.access_token)).map(({ id }) => id)).toEqual([now.session_id]);
    }
    expect(await storedEnd(app, old.session_id)).toEqual({ state: 'expired', end_reason: 'expired' });
    const expired = app.sent('user_logged_out').filter(({ reason }) => reason === 'expired');
    expect(expired.map(({ session }) => session.id)).toEqual([old.session_id]);
  });

  it('the list contains all sessions, even more than one page of rows', async () => {
    const { app } = env;
    const [user] = await app.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
    for (let time = 0; time < 60; time++) await app.auth.openSession(user.id);
    const { access_token: token } = await app.login();
    expect(await list(token)).toHaveLength(61);
  });
});

describeOnBothPlatforms('sessions that their user deletes', {}, (env: TestEnvironment) => {
  const REVOKED = { detail: 'Session revoked.' };
  const NOT_FOUND = { detail: 'Session not found.' };

  it('a deleted session ends with its token family, and is not found a second time', async () => {
    const { app } = env;
    const lost = await app.login();
    const { body: next } = await app.refresh(lost.refresh_token).expect(200);
    const mine = await app.login();
    const path = `/auth/sessions/${lost.session_id}/`;
    await app.delete(path, mine.access_token).expect(200, REVOKED);
    await app.get('/me', next.access_token).expect(401);
    await app.refresh(next.refresh_token).expect(400, INVALID_REFRESH);
    await app.refresh(lost.refresh_token).expect(400, INVALID_REFRESH);
    await app.delete(path, mine.access_token).expect(404, NOT_FOUND);
    await app.get('/me', mine.access_token).expect(200);
    expect(await storedEnd(app, lost.session_id)).toEqual({ state: 'revoked', end_reason: 'user' });
    expect(app.sent('user_logged_out').map(({ session, reason }) => [session.id, session.state, reason])).toEqual([
      [lost.session_id, 'revoked', 'user'],
    ]);
    const [latest] = await historyOf(app, mine.access_token);
    expect(latest).toMatchObject({
      event: 'session_revoked',
      extra: { session_id: lost.session_id, reason: 'user' },
    });
  });

  it('a user can delete the current session', async () => {
    const { access_token: token, session_id: id } = await env.app.login();
    await env.app.delete(`/auth/sessions/${id}/`, token).expect(200, REVOKED);
    await env.app.get('/me', token).expect(401);
  });

  it('a session is found by its id in upper case', async () => {
    const { access_token: token, session_id: id } = await env.app.login();
    await env.app.delete(`/auth/sessions/${id.toUpperCase()}/`, token).expect(200, REVOKED);
  });

  it("requests for another user's, an ended, an expired or an unknown session or an invalid id receive byte-identical 404 responses", async () => {
    const { app } = env;
    const bob = await app.login('bob');
    const over = await app.login();
    app.clock.advance(7 * DAY - HOUR);
    const alice = await app.login();
    const bobNow = await app.login('bob');
    const ended = await app.login();
    await app.post('/auth/logout', ended.access_token).expect(200);
    app.clock.advance(HOUR);
    const { access_token: token } = (await app.refresh(alice.refresh_token)).body;
    const ask = (id: string) =>
      sendRaw(app, [`DELETE /auth/sessions/${id}/ HTTP/1.1`, `Authorization: Bearer ${token}`]);
    const unknown = await ask(randomUUID());
    expect([unknown.status, JSON.parse(unknown.body)]).toEqual([404, NOT_FOUND]);
    for (const id of [
      bobNow.session_id,
      bob.session_id,
      ended.session_id,
      over.session_id,
      '00000000-0000-0000-0000-000000000000',
      'current',
      '1',
      '-1',
      'null',
      'undefined',
      '*',
      '%00',
      '%F0%9F%98%80',
      '%20',
      '%2F',
      '..%2f..%2flogin',
      "'%20OR%20'1'='1",
      `${alice.session_id}%00`,
      `%20${alice.session_id}`,
      `${alice.session_id}%20`,
      `${alice.session_id}%0A`,
      `{${alice.session_id}}`,
      `urn:uuid:${alice.session_id}`,
      alice.session_id.replaceAll('-', ''),
      alice.session_id.slice(0, -1),
      'a'.repeat(5_000),
    ]) {
      const { bytes } = await ask(id);
      expect([id, bytes]).toEqual([id, unknown.bytes]);
    }
    await app.get('/me', token).expect(200);
    expect((await app.refresh(bobNow.refresh_token)).status).toBe(200);
    const signals = app.signals.filter(({ payload }) => (payload as { reason?: string }).reason === 'user');
    expect(signals).toEqual([]);
  });

  it('a session that several requests delete in parallel is revoked once', async () => {
    const { app } = env;
    const lost = await app.login();
    const mine = await app.login();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => app.delete(`/auth/sessions/${lost.session_id}/`, mine.access_token)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404]);
    expect(app.sent('user_logged_out')).toHaveLength(1);
  });
});

describeOnBothPlatforms(
  'sessions without tracking',
  { auth: { trackIps: false, trackUserAgents: false } },
  (env: TestEnvironment) => {
    it('a session has no address and generic values for the device', async () => {
      const { access_token: token } = await env.app.login('alice', undefined, PHONE);
      const { body } = await env.app.get('/auth/sessions/', token).expect(200);
      expect(body[0]).toMatchObject({
        ip_address: null,
        device_type: 'other',
        os_family: 'Other',
        browser_family: 'Other',
        device_name: 'Other',
      });
      const [entry] = await historyOf(env.app, token);
      expect(entry).toMatchObject({ ip_address: null, user_agent: '' });
    });
  },
);
