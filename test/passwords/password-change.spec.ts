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
    await app.changePassword(mine.access_token, NEW).expect(200);
    await app.expectRevoked(other);
    await app.expectLive(bob);
    expect(await app.storedEnd(other.session_id)).toEqual({ state: 'revoked', end_reason: 'password_change' });
    expect(app.emittedEnds()).toEqual([[other.session_id, 'password_change']]);
    expect(app.sent('password_changed').map(({ session }) => session?.id)).toEqual([mine.session_id]);
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

  it('a wrong current password changes nothing', async () => {
    const [mine, other] = [await app.login(), await app.login()];
    for (const wrong of ['wrong', PASSWORD.toUpperCase(), `${PASSWORD} `, 'a'.repeat(73)]) {
      const problem = { current_password: ['Invalid password.'] };
      const { headers } = await app.changePassword(mine.access_token, NEW, wrong).expect(400, problem);
      expect(headers['cache-control']).toBe('no-store');
    }
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
