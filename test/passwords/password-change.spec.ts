import { TestApplication, PASSWORD } from '../support/test-application';
import { INVALID_REFRESH, restorePassword, describeOnEachDatabase } from '../support/environment';

const NEW = 'a new and better password';

function change(app: TestApplication, token: string, current: unknown, next: unknown) {
  return app.post('/auth/password/change/', token, { current_password: current, new_password: next });
}

describeOnEachDatabase('password changes', {}, ({ app }) => {
  afterEach(() => restorePassword(app));

  it('a password change returns a new pair for the current session, and only the new password is valid afterwards', async () => {
    const first = await app.login();
    // A password of 72 bytes is accepted.
    const longest = `x${'\u00e9'.repeat(34)}yz!`;
    const { body } = await change(app, first.access_token, PASSWORD, longest).expect(200);
    expect(body).toEqual({ access_token: expect.any(String), refresh_token: expect.any(String), token_type: 'Bearer' });
    expect((await app.get('/me', body.access_token).expect(200)).body.session_id).toBe(first.session_id);
    await app.login('alice', longest);
    await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
    await app.refresh(body.refresh_token).expect(200);
  });

  it('a password change ends every other session of the user and no session of other users', async () => {
    const mine = await app.login();
    const other = await app.login();
    const bob = await app.login('bob');
    const { body } = await change(app, mine.access_token, PASSWORD, NEW).expect(200);
    await app.get('/me', other.access_token).expect(401);
    await app.refresh(other.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', bob.access_token).expect(200);
    expect(await app.storedEnd(other.session_id)).toEqual({ state: 'revoked', end_reason: 'password_change' });
    expect(app.sent('user_logged_out').map(({ session, reason }) => [session.id, reason])).toEqual([
      [other.session_id, 'password_change'],
    ]);
    expect(app.sent('password_changed').map(({ session }) => session?.id)).toEqual([mine.session_id]);
    const events = (await app.history(body.access_token)).map(({ event, extra }) => [event, extra]);
    expect(events).toHaveLength(4);
    expect(events).toContainEqual(['password_change', {}]);
    expect(events).toContainEqual(['forced_logout', { session_id: other.session_id, reason: 'password_change' }]);
  });

  it('a password change revokes the old tokens of the current session, and presenting its old refresh token is not reuse', async () => {
    const old = await app.login();
    const { body } = await change(app, old.access_token, PASSWORD, NEW).expect(200);
    await app.get('/me', old.access_token).expect(401);
    for (let time = 0; time < 3; time++) await app.refresh(old.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', body.access_token).expect(200);
    const { body: next } = await app.refresh(body.refresh_token).expect(200);
    await app.refresh(old.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', next.access_token).expect(200);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it('a refresh token used before a password change is refused, and presenting one used after the change is reuse', async () => {
    const first = await app.login();
    const { body: second } = await app.refresh(first.refresh_token).expect(200);
    const { body: third } = await change(app, second.access_token, PASSWORD, NEW).expect(200);
    const { body: fourth } = await app.refresh(third.refresh_token).expect(200);
    await app.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', fourth.access_token).expect(200);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    await app.refresh(third.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', fourth.access_token).expect(401);
    expect(app.sent('token_reuse_detected').map(({ reuse }) => reuse.generationsBehind)).toEqual([1]);
  });

  it('a wrong current password changes nothing, and is counted within the session, separately from failed logins', async () => {
    const { access_token: token, refresh_token: refresh } = await app.login();
    const other = await app.login();
    await app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    for (const wrong of ['wrong', PASSWORD.toUpperCase(), `${PASSWORD} `, 'a'.repeat(73)]) {
      const answer = await change(app, token, wrong, NEW);
      expect([answer.status, answer.body]).toEqual([400, { current_password: ['Invalid password.'] }]);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    const failures = (await app.history(token)).filter(({ event }) => event === 'login_failure');
    expect(failures.map(({ extra }) => extra)).toEqual(
      [4, 3, 2, 1, 1].map((count) => ({ username: 'alice', failure_count: count })),
    );
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 1, 2, 3, 4]);
    await app.get('/me', other.access_token).expect(200);
    await app.refresh(refresh).expect(200);
    expect(app.sent('password_changed')).toEqual([]);
    await app.login();
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
  ])('a change to a password %s is refused for new_password only, and changes nothing', async (_, next) => {
    const { access_token: token } = await app.login();
    const answer = await change(app, token, PASSWORD, next);
    expect([answer.status, answer.body]).toEqual([400, { new_password: [expect.any(String)] }]);
    expect(app.signals.filter(({ name }) => name !== 'user_logged_in')).toEqual([]);
    await app.get('/me', token).expect(200);
    await app.login();
  });

  it('only one of several parallel password changes with one access token succeeds', async () => {
    const { access_token: token } = await app.login();
    const answers = await Promise.all([1, 2, 3].map((time) => change(app, token, PASSWORD, `${NEW} ${time}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => ![200, 400, 401].includes(status))).toEqual([]);
    expect(app.sent('password_changed')).toHaveLength(1);
    await app.login('alice', `${NEW} ${answers.findIndex(({ status }) => status === 200) + 1}`);
  });
});

const KEEPING_SESSIONS = { auth: { revokeOnPasswordChange: false } };

describeOnEachDatabase('password changes with revokeOnPasswordChange: false', KEEPING_SESSIONS, ({ app }) => {
  afterEach(() => restorePassword(app));

  it('a password change ends no session, and revokes the old tokens of the current one', async () => {
    const mine = await app.login();
    const other = await app.login();
    const { body } = await change(app, mine.access_token, PASSWORD, NEW).expect(200);
    await app.get('/me', other.access_token).expect(200);
    await app.refresh(other.refresh_token).expect(200);
    await app.get('/me', mine.access_token).expect(401);
    await app.refresh(mine.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', body.access_token).expect(200);
    expect(app.sent('user_logged_out')).toEqual([]);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    expect(app.sent('password_changed')).toHaveLength(1);
  });
});

describeOnEachDatabase('password changes without rotation', { auth: { rotateRefreshTokens: false } }, ({ app }) => {
  afterEach(() => restorePassword(app));

  it('a password change replaces the refresh token even without rotation', async () => {
    const mine = await app.login();
    const { body } = await change(app, mine.access_token, PASSWORD, NEW).expect(200);
    expect(body.refresh_token).not.toBe(mine.refresh_token);
    await app.refresh(mine.refresh_token).expect(400, INVALID_REFRESH);
    await app.refresh(body.refresh_token).expect(200);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });
});
