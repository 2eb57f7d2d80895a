import {
  INVALID_REFRESH,
  historyOf,
  storedEnd,
  describeOnBothPlatforms,
  type TestEnvironment,
} from '../support/environment';

describeOnBothPlatforms('logout', {}, (env: TestEnvironment) => {
  it('a logout ends the session and revokes its access token and token family immediately, and other sessions continue', async () => {
    const { app } = env;
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

  it('parallel logouts end the session once and emit one signal', async () => {
    const { app } = env;
    const { access_token: token } = await app.login();
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.post('/auth/logout/', token)));
    expect(answers.filter(({ status }) => ![200, 401].includes(status))).toEqual([]);
    expect(app.sent('user_logged_out')).toHaveLength(1);
    const { access_token: later } = await app.login();
    expect((await historyOf(app, later)).filter(({ event }) => event === 'logout')).toHaveLength(1);
  });
});

describeOnBothPlatforms('logout of all sessions', {}, (env: TestEnvironment) => {
  it.each([
    ['without a body', undefined],
    ['with an empty object', {}],
    ['with keep_current false', { keep_current: false }],
    ['with unknown fields', { keep: true }],
  ])('logout/all %s ends every session of the user, including the current one', async (_, body) => {
    const { app } = env;
    const sessions = [await app.login(), await app.login(), await app.login()];
    const bob = await app.login('bob');
    await app
      .post('/auth/logout/all/', sessions[1]!.access_token, body)
      .expect(200, { detail: 'Revoked 3 session(s).' });
    for (const session of sessions) {
      await app.get('/me', session.access_token).expect(401);
      await app.refresh(session.refresh_token).expect(400, INVALID_REFRESH);
    }
    await app.get('/me', bob.access_token).expect(200);
    expect(await storedEnd(app, sessions[1]!.session_id)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(await storedEnd(app, sessions[0]!.session_id)).toEqual({ state: 'revoked', end_reason: 'logout_all' });
    const ends = app.sent('user_logged_out').map(({ session, reason }) => [session.id, reason]);
    expect(ends.sort()).toEqual(
      [
        [sessions[0]!.session_id, 'logout_all'],
        [sessions[1]!.session_id, 'logout'],
        [sessions[2]!.session_id, 'logout_all'],
      ].sort(),
    );
    const { access_token: later } = await app.login();
    const rows = (await historyOf(app, later)).map(({ event, extra }) => [event, extra['session_id'], extra['reason']]);
    expect(rows.slice(1, 4).sort()).toEqual(
      [
        ['logout', undefined, undefined],
        ['session_revoked', sessions[0]!.session_id, 'logout_all'],
        ['session_revoked', sessions[2]!.session_id, 'logout_all'],
      ].sort(),
    );
  });

  it('logout/all with keep_current keeps the current session and does not count that session', async () => {
    const { app } = env;
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

  it('logout/all counts the current session if it is the only one', async () => {
    const { access_token: token } = await env.app.login();
    await env.app.post('/auth/logout/all/', token).expect(200, { detail: 'Revoked 1 session(s).' });
  });

  it('logout/all does not count sessions that had ended or expired', async () => {
    const { app } = env;
    await app.login();
    app.clock.advance(7 * 24 * 60 * 60 * 1000);
    const ended = await app.login();
    await app.post('/auth/logout', ended.access_token).expect(200);
    const { access_token: token } = await app.login();
    await app.post('/auth/logout/all/', token).expect(200, { detail: 'Revoked 1 session(s).' });
  });
});
