import { INVALID_REFRESH, historyOf, storedEnd, storiesOnBothPlatforms, type Stage } from './stories';

storiesOnBothPlatforms('a logout', {}, (at: Stage) => {
  it('ends the session: its access token and its whole family are revoked immediately, other sessions continue', async () => {
    const { host } = at;
    const first = await host.login();
    const other = await host.login();
    const { body: second } = await host.refresh(first.refresh_token).expect(200);
    await host.post('/auth/logout/', second.access_token).expect(200, { detail: 'Logged out successfully.' });
    await host.get('/me', second.access_token).expect(401);
    await host.post('/auth/logout/', second.access_token).expect(401);
    await host.refresh(second.refresh_token).expect(400, INVALID_REFRESH);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', other.access_token).expect(200);
    expect(await storedEnd(host, first.session_id)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(host.sent('token_reuse_detected')).toEqual([]);
    const ends = host.sent('user_logged_out');
    expect(ends.map(({ session, reason }) => [session.id, session.state, reason])).toEqual([
      [first.session_id, 'logged_out', 'logout'],
    ]);
    const [latest] = await historyOf(host, other.access_token);
    expect(latest).toMatchObject({ event: 'logout', extra: {} });
  });

  it('that is asked for many times at once ends one session and tells it once', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    const answers = await Promise.all(Array.from({ length: 10 }, () => host.post('/auth/logout/', token)));
    expect(answers.filter(({ status }) => ![200, 401].includes(status))).toEqual([]);
    expect(host.sent('user_logged_out')).toHaveLength(1);
    const { access_token: later } = await host.login();
    expect((await historyOf(host, later)).filter(({ event }) => event === 'logout')).toHaveLength(1);
  });
});

storiesOnBothPlatforms('a logout everywhere', {}, (at: Stage) => {
  it.each([
    ['without a body', undefined],
    ['with an empty object', {}],
    ['with keep_current false', { keep_current: false }],
    ['with fields that it does not know', { keep: true }],
  ])('%s ends every session of the user, the current one too', async (_, body) => {
    const { host } = at;
    const sessions = [await host.login(), await host.login(), await host.login()];
    const bob = await host.login('bob');
    await host
      .post('/auth/logout/all/', sessions[1]!.access_token, body)
      .expect(200, { detail: 'Revoked 3 session(s).' });
    for (const session of sessions) {
      await host.get('/me', session.access_token).expect(401);
      await host.refresh(session.refresh_token).expect(400, INVALID_REFRESH);
    }
    await host.get('/me', bob.access_token).expect(200);
    expect(await storedEnd(host, sessions[1]!.session_id)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(await storedEnd(host, sessions[0]!.session_id)).toEqual({ state: 'revoked', end_reason: 'logout_all' });
    const ends = host.sent('user_logged_out').map(({ session, reason }) => [session.id, reason]);
    expect(ends.sort()).toEqual(
      [
        [sessions[0]!.session_id, 'logout_all'],
        [sessions[1]!.session_id, 'logout'],
        [sessions[2]!.session_id, 'logout_all'],
      ].sort(),
    );
    const { access_token: later } = await host.login();
    const told = (await historyOf(host, later)).map(({ event, extra }) => [
      event,
      extra['session_id'],
      extra['reason'],
    ]);
    expect(told.slice(1, 4).sort()).toEqual(
      [
        ['logout', undefined, undefined],
        ['session_revoked', sessions[0]!.session_id, 'logout_all'],
        ['session_revoked', sessions[2]!.session_id, 'logout_all'],
      ].sort(),
    );
  });

  it('with keep_current spares the current session and does not count it', async () => {
    const { host } = at;
    const sessions = [await host.login(), await host.login(), await host.login()];
    const current = sessions[1]!;
    const all = () => host.post('/auth/logout/all/', current.access_token, { keep_current: true });
    await all().expect(200, { detail: 'Revoked 2 session(s).' });
    await host.get('/me', sessions[0]!.access_token).expect(401);
    await host.get('/me', sessions[2]!.access_token).expect(401);
    await host.get('/me', current.access_token).expect(200);
    await all().expect(200, { detail: 'Revoked 0 session(s).' });
    await host.refresh(current.refresh_token).expect(200);
  });

  it('counts the one session that there is', async () => {
    const { access_token: token } = await at.host.login();
    await at.host.post('/auth/logout/all/', token).expect(200, { detail: 'Revoked 1 session(s).' });
  });

  it('does not count sessions that had ended or whose time was over', async () => {
    const { host } = at;
    await host.login();
    host.clock.advance(7 * 24 * 60 * 60 * 1000);
    const ended = await host.login();
    await host.post('/auth/logout', ended.access_token).expect(200);
    const { access_token: token } = await host.login();
    await host.post('/auth/logout/all/', token).expect(200, { detail: 'Revoked 1 session(s).' });
  });
});
