import { AuthUser, PasswordHasher } from 'nestjs-session-auth';
import { PASSWORD } from '../support/test-application';
import { describeOnEachDatabase, INVALID_REFRESH, restorePassword } from '../support/environment';

const NEW = 'a new and better password';

describeOnEachDatabase('password changes', {}, ({ app, start }) => {
  afterEach(() => restorePassword(app));

  it('a password change returns a new pair for the current session, and only the new password is valid afterwards', async () => {
    const first = await app.login();
    // A password of 72 bytes is accepted.
    const longest = `x${'\u00e9'.repeat(34)}yz!`;
    const { body } = await app.changePassword(first.access_token, longest).expect(200);
    expect(body).toEqual({ access_token: expect.any(String), refresh_token: expect.any(String), token_type: 'Bearer' });
    expect((await app.get('/me', body.access_token).expect(200)).body.session_id).toBe(first.session_id);
    await app.login('alice', longest);
    await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
    await app.refreshed(body);
  });

  it('a password change ends every other session of the user and no session of other users', async () => {
    const [mine, other, bob] = [await app.login(), await app.login(), await app.login('bob')];
    const { body } = await app.changePassword(mine.access_token, NEW).expect(200);
    await app.expectRevoked(other);
    await app.expectLive(bob);
    expect(await app.storedEnd(other.session_id)).toEqual({ state: 'revoked', end_reason: 'password_change' });
    expect(app.emittedEnds()).toEqual([[other.session_id, 'password_change']]);
    expect(app.sent('password_changed').map(({ session }) => session?.id)).toEqual([mine.session_id]);
    const events = (await app.history(body.access_token)).map(({ event, extra }) => [event, extra]);
    expect(events).toHaveLength(4);
    expect(events).toContainEqual(['password_change', {}]);
    expect(events).toContainEqual(['forced_logout', { session_id: other.session_id, reason: 'password_change' }]);
  });

  it('a password change revokes the previous tokens of the session, of which only one that is used afterwards is reuse when it is presented', async () => {
    const first = await app.login();
    const second = await app.refreshed(first);
    const { body: third } = await app.changePassword(second.access_token, NEW).expect(200);
    await app.expectRevoked(second, first);
    const fourth = await app.refreshed(third);
    await app.expectRevoked(second, first);
    await app.expectLive(fourth);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    await app.expectRevoked(third, fourth);
    expect(app.sent('token_reuse_detected').map(({ reuse }) => reuse.generationsBehind)).toEqual([1]);
  });

  it('a change whose current password was replaced while it was verified is refused, and ends no session', async () => {
    const [mine, other] = [await app.login(), await app.login()];
    const hasher = app.nest.get(PasswordHasher);
    const verify = hasher.verify.bind(hasher);
    jest.spyOn(hasher, 'verify').mockImplementationOnce(async (password, hash) => {
      const passwordHash = await hasher.hash(NEW);
      await app.dataSource.getRepository(AuthUser).update({ username: 'alice' }, { passwordHash });
      return verify(password, hash);
    });
    await app.changePassword(mine.access_token, 'another new password').expect(401);
    await app.expectLive(mine, other);
    await app.login('alice', NEW);
  });

  it('a wrong current password changes nothing, and is counted within the session, separately from failed logins', async () => {
    const [mine, other] = [await app.login(), await app.login()];
    await app.failLogin();
    for (const wrong of ['wrong', PASSWORD.toUpperCase(), `${PASSWORD} `, 'a'.repeat(73)]) {
      const problem = { current_password: ['Invalid password.'] };
      const { headers } = await app.changePassword(mine.access_token, NEW, wrong).expect(400, problem);
      expect(headers['cache-control']).toBe('no-store');
    }
    const failures = (await app.history(mine.access_token)).filter(({ event }) => event === 'login_failure');
    const extras = [4, 3, 2, 1, 1].map((count) => ({ username: 'alice', failure_count: count }));
    expect(failures.map(({ extra }) => extra)).toEqual(extras);
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 1, 2, 3, 4]);
    await app.expectLive(other, await app.refreshed(mine), await app.login());
    expect(app.sent('password_changed')).toEqual([]);
  });

  it('a change to an invalid password is refused for new_password only, and changes nothing', async () => {
    const session = await app.login();
    const lengths = ['a'.repeat(73), '\u00e9'.repeat(37), 'a'.repeat(4096), 'a'.repeat(4097)];
    for (const next of [...lengths, '', null, 12345678, 'a\0b', 'a\ud800b']) {
      const { status, body } = await app.changePassword(session.access_token, next);
      expect([next, status, body]).toEqual([next, 400, { new_password: [expect.any(String)] }]);
    }
    expect(app.signals.filter(({ name }) => name !== 'user_logged_in')).toEqual([]);
    await app.expectLive(session, await app.login());
  });

  it('only one of several parallel password changes with one access token succeeds', async () => {
    const { access_token: token } = await app.login();
    const answers = await Promise.all([1, 2, 3].map((time) => app.changePassword(token, `${NEW} ${time}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => ![200, 400, 401].includes(status))).toEqual([]);
    expect(app.sent('password_changed')).toHaveLength(1);
    await app.login('alice', `${NEW} ${answers.findIndex(({ status }) => status === 200) + 1}`);
  });

  it('a password change with revokeOnPasswordChange: false ends no session, and revokes the old tokens of the current one', async () => {
    const keeping = await start({ auth: { revokeOnPasswordChange: false } });
    const [mine, other] = [await keeping.login(), await keeping.login()];
    const { body } = await keeping.changePassword(mine.access_token, NEW).expect(200);
    await keeping.expectRevoked(mine);
    await keeping.expectLive(other, body);
    expect([keeping.sent('user_logged_out'), keeping.sent('token_reuse_detected')]).toEqual([[], []]);
    expect(keeping.sent('password_changed')).toHaveLength(1);
  });

  it('a password change replaces the refresh token even without rotation', async () => {
    const unrotated = await start({ auth: { rotateRefreshTokens: false } });
    const mine = await unrotated.login();
    const { body } = await unrotated.changePassword(mine.access_token, NEW).expect(200);
    await unrotated.refresh(mine.refresh_token).expect(400, INVALID_REFRESH);
    await unrotated.refreshed(body);
    expect(unrotated.sent('token_reuse_detected')).toEqual([]);
  });
});
