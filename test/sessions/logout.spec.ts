import { DAY } from '../support/driven-clock';
import { describeEverywhere } from '../support/environment';

describeEverywhere('logout', {}, ({ app }) => {
  it('a logout ends the session and revokes its access token and token family immediately, and other sessions continue', async () => {
    const [first, other] = [await app.login(), await app.login()];
    const second = await app.refreshed(first);
    await app.post('/auth/logout/', second.access_token).expect(200, { detail: 'Logged out successfully.' });
    await app.expectRevoked(second, first);
    await app.post('/auth/logout/', second.access_token).expect(401);
    await app.expectLive(other);
    expect(await app.storedEnd(first.session_id)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(app.sent('token_reuse_detected')).toEqual([]);
    const session = expect.objectContaining({ id: first.session_id, state: 'logged_out' });
    expect(app.sent('user_logged_out')).toMatchObject([{ session, reason: 'logout' }]);
    expect((await app.history(other.access_token))[0]).toMatchObject({ event: 'logout', extra: {} });
  });

  it('logout/all ends every session of the user, including the current one, unless the body contains keep_current: true', async () => {
    const bob = await app.login('bob');
    for (const body of [undefined, {}, { keep_current: false }, { keep: true }, { keep_current: true }]) {
      const isKept = body?.keep_current === true;
      const [one, current, two] = [await app.login(), await app.login(), await app.login()];
      const detail = `Revoked ${isKept ? 2 : 3} session(s).`;
      await app.post('/auth/logout/all/', current.access_token, body).expect(200, { detail });
      await app.expectRevoked(one, two);
      if (isKept) await app.expectLive(current);
      else await app.expectRevoked(current);
    }
    await app.expectLive(bob);
  });

  it('logout/all does not count a session that has expired', async () => {
    await app.login();
    app.clock.advance(6 * DAY);
    const session = await app.login();
    app.clock.advance(DAY);
    const { access_token: token } = await app.refreshed(session);
    await app.post('/auth/logout/all', token).expect(200, { detail: 'Revoked 1 session(s).' });
  });
});
