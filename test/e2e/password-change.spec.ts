import { Host, PASSWORD } from '../support/host';
import { historyOf, INVALID_REFRESH, restorePassword, storedEnd, stories, type Stage } from './stories';

const NEW = 'a new and better password';

function change(host: Host, token: string, current: unknown, next: unknown) {
  return host.post('/auth/password/change/', token, { current_password: current, new_password: next });
}

stories('a password change', {}, (at: Stage) => {
  afterEach(() => restorePassword(at.host));

  it('returns a new pair for the current session, and only the new password is valid afterwards', async () => {
    const { host } = at;
    const first = await host.login();
    const { status, body } = await change(host, first.access_token, PASSWORD, NEW);
    expect(status).toBe(200);
    expect(body).toEqual({ access_token: expect.any(String), refresh_token: expect.any(String), token_type: 'Bearer' });
    expect((await host.get('/me', body.access_token).expect(200)).body.session_id).toBe(first.session_id);
    await host.login('alice', NEW);
    await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
    await host.refresh(body.refresh_token).expect(200);
  });

  it('ends every other session of the user, and none of other users', async () => {
    const { host } = at;
    const mine = await host.login();
    const other = await host.login();
    const bob = await host.login('bob');
    const { body } = await change(host, mine.access_token, PASSWORD, NEW).expect(200);
    await host.get('/me', other.access_token).expect(401);
    await host.refresh(other.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', bob.access_token).expect(200);
    expect(await storedEnd(host, other.session_id)).toEqual({ state: 'revoked', end_reason: 'password_change' });
    expect(host.sent('user_logged_out').map(({ session, reason }) => [session.id, reason])).toEqual([
      [other.session_id, 'password_change'],
    ]);
    expect(host.sent('password_changed').map(({ session }) => session?.id)).toEqual([mine.session_id]);
    const events = (await historyOf(host, body.access_token)).map(({ event, extra }) => [event, extra]);
    expect(events).toHaveLength(4);
    expect(events).toContainEqual(['password_change', {}]);
    expect(events).toContainEqual(['forced_logout', { session_id: other.session_id, reason: 'password_change' }]);
  });

  it('revokes the old tokens of the current session, and presenting its refresh token is not reuse', async () => {
    const { host } = at;
    const old = await host.login();
    const { body } = await change(host, old.access_token, PASSWORD, NEW).expect(200);
    await host.get('/me', old.access_token).expect(401);
    for (let time = 0; time < 3; time++) await host.refresh(old.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', body.access_token).expect(200);
    const { body: next } = await host.refresh(body.refresh_token).expect(200);
    await host.refresh(old.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', next.access_token).expect(200);
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });

  it('begins a new token family: a token used before it is refused, and one used after it is reuse', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: second } = await host.refresh(first.refresh_token).expect(200);
    const { body: third } = await change(host, second.access_token, PASSWORD, NEW).expect(200);
    const { body: fourth } = await host.refresh(third.refresh_token).expect(200);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', fourth.access_token).expect(200);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    await host.refresh(third.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', fourth.access_token).expect(401);
    expect(host.sent('token_reuse_detected').map(({ reuse }) => reuse.generationsBehind)).toEqual([1]);
  });

  it('with a wrong current password changes nothing and counts against the session, apart from failed logins', async () => {
    const { host } = at;
    const { access_token: token, refresh_token: refresh } = await host.login();
    const other = await host.login();
    await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    for (const wrong of ['wrong', PASSWORD.toUpperCase(), `${PASSWORD} `, 'a'.repeat(73)]) {
      const answer = await change(host, token, wrong, NEW);
      expect([answer.status, answer.body]).toEqual([400, { current_password: ['Invalid password.'] }]);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    const failures = (await historyOf(host, token)).filter(({ event }) => event === 'login_failure');
    expect(failures.map(({ extra }) => extra)).toEqual(
      [4, 3, 2, 1, 1].map((count) => ({ username: 'alice', failure_count: count })),
    );
    expect(host.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 1, 2, 3, 4]);
    await host.get('/me', other.access_token).expect(200);
    await host.refresh(refresh).expect(200);
    expect(host.sent('password_changed')).toEqual([]);
    await host.login();
  });

  it.each([
    ['of 73 bytes', 'a'.repeat(73)],
    ['of 74 bytes in 37 characters', '\u00e9'.repeat(37)],
    ['of 4,096 bytes', 'a'.repeat(4096)],
    ['of 4,097 bytes', 'a'.repeat(4097)],
    ['that is blank', ''],
    ['that is null', null],
    ['that is a number', 12345678],
    ['with a NUL in it', 'a\0b'],
    ['with half a surrogate pair', 'a\ud800b'],
  ])('to a password %s is refused on new_password alone, and changes nothing', async (_, next) => {
    const { host } = at;
    const { access_token: token } = await host.login();
    const answer = await change(host, token, PASSWORD, next);
    expect([answer.status, answer.body]).toEqual([400, { new_password: [expect.any(String)] }]);
    expect(host.signals.filter(({ name }) => name !== 'user_logged_in')).toEqual([]);
    await host.get('/me', token).expect(200);
    await host.login();
  });

  it('to a password of 72 bytes is accepted', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    await change(host, token, PASSWORD, `x${'\u00e9'.repeat(34)}yz!`).expect(200);
    await host.login('alice', `x${'\u00e9'.repeat(34)}yz!`);
  });

  it('with one access token in parallel happens once', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    const answers = await Promise.all([1, 2, 3].map((time) => change(host, token, PASSWORD, `${NEW} ${time}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => ![200, 400, 401].includes(status))).toEqual([]);
    expect(host.sent('password_changed')).toHaveLength(1);
    await host.login('alice', `${NEW} ${answers.findIndex(({ status }) => status === 200) + 1}`);
  });
});

stories(
  'a password change with revokeOnPasswordChange: false',
  { auth: { revokeOnPasswordChange: false } },
  (at: Stage) => {
    afterEach(() => restorePassword(at.host));

    it('ends no session, and revokes the old tokens of the current one', async () => {
      const { host } = at;
      const mine = await host.login();
      const other = await host.login();
      const { body } = await change(host, mine.access_token, PASSWORD, NEW).expect(200);
      await host.get('/me', other.access_token).expect(200);
      await host.refresh(other.refresh_token).expect(200);
      await host.get('/me', mine.access_token).expect(401);
      await host.refresh(mine.refresh_token).expect(400, INVALID_REFRESH);
      await host.get('/me', body.access_token).expect(200);
      expect(host.sent('user_logged_out')).toEqual([]);
      expect(host.sent('token_reuse_detected')).toEqual([]);
      expect(host.sent('password_changed')).toHaveLength(1);
    });
  },
);

stories('a password change without rotation', { auth: { rotateRefreshTokens: false } }, (at: Stage) => {
  afterEach(() => restorePassword(at.host));

  it('replaces the refresh token too', async () => {
    const { host } = at;
    const mine = await host.login();
    const { body } = await change(host, mine.access_token, PASSWORD, NEW).expect(200);
    expect(body.refresh_token).not.toBe(mine.refresh_token);
    await host.refresh(mine.refresh_token).expect(400, INVALID_REFRESH);
    await host.refresh(body.refresh_token).expect(200);
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });
});
