import { emittedEnds, INVALID_REFRESH, historyOf, storedEnd, describeEverywhere } from '../support/environment';

describeEverywhere('logout', {}, ({ app }) => {
  it('a logout ends the session and revokes its access token and token family immediately, and other sessions continue', async () => {
    const first = await app.login();
    const other = await app.login();
    const { body: second } = await app.refresh(first.refresh_token).expect(200);
    await app.post('/auth/logout/', second.access_token).expect(200, { detail: 'Logged out successfully.' });
    await app.get('/me', second.access_token).expect(401);
    await app.post('/auth/logout/', second.access_token).expect(401);
    await app.refresh(second.refresh_token).expect(400, INVALID_REFRESH);
    await app.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', other.access_token).expect(200);
    expect(await storedEnd(app, first.session_id)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(app.sent('token_reuse_detected')).toEqual([]);
    const ends = app.sent('user_logged_out');
    expect(ends.map(({ session, reason }) => [session.id, session.state, reason])).toEqual([
      [first.session_id, 'logged_out', 'logout'],
    ]);
    const [latest] = await historyOf(app, other.access_token);
    expect(latest).toMatchObject({ event: 'logout', extra: {} });
  });
});

describeEverywhere('logout of all sessions', {}, ({ app }) => {
  it('logout/all ends every session of the user, including the current one, unless the body contains keep_current: true', async () => {
    const bob = await app.login('bob');
    for (const body of [undefined, {}, { keep_current: false }, { keep: true }]) {
      const sessions = [await app.login(), await app.login(), await app.login()];
      await app
        .post('/auth/logout/all/', sessions[1]!.access_token, body)
        .expect(200, { detail: 'Revoked 3 session(s).' });
      for (const session of sessions) {
        await app.get('/me', session.access_token).expect(401);
        await app.refresh(session.refresh_token).expect(400, INVALID_REFRESH);
      }
    }
    await app.get('/me', bob.access_token).expect(200);
  });

  it('logout/all emits and records each end, with the reason `logout` for the current session only', async () => {
    const { session_id: other } = await app.login();
    const { session_id: current, access_token: token } = await app.login();
    await app.post('/auth/logout/all/', token).expect(200, { detail: 'Revoked 2 session(s).' });
    expect(await storedEnd(app, current)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(await storedEnd(app, other)).toEqual({ state: 'revoked', end_reason: 'logout_all' });
    expect(Object.fromEntries(emittedEnds(app))).toEqual({ [current]: 'logout', [other]: 'logout_all' });
    const [, ...entries] = await historyOf(app, (await app.login()).access_token);
    const ends = Object.fromEntries(entries.slice(0, 2).map(({ event, extra }) => [event, extra]));
    expect(ends).toEqual({ logout: {}, session_revoked: { session_id: other, reason: 'logout_all' } });
  });

  it('logout/all with keep_current keeps the current session and does not count that session', async () => {
    const sessions = [await app.login(), await app.login(), await app.login()];
    const current = sessions[1]!;
    const all = () => app.post('/auth/logout/all/', current.access_token, { keep_current: true });
    await all().expect(200, { detail: 'Revoked 2 session(s).' });
    await app.get('/me', sessions[0]!.access_token).expect(401);
    await app.get('/me', sessions[2]!.access_token).expect(401);
    await app.get('/me', current.access_token).expect(200);
    await all().expect(200, { detail: 'Revoked 0 session(s).' });
    await app.refresh(current.refresh_token).expect(200);
  });
});
