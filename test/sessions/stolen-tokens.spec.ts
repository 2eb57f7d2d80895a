import { describeEverywhere, describeOnEachDatabase } from '../support/environment';
import { HOUR, SECOND } from '../support/driven-clock';
import { PASSWORD, type Pair } from '../support/test-application';

const HOME = '198.51.100.7';
const ELSEWHERE = '203.0.113.9';

describeOnEachDatabase('stolen tokens', { auth: { refreshReuseGraceSeconds: 10 }, trustProxy: true }, ({ app }) => {
  const use = async (network: string, { access_token: token }: Pair): Promise<number> =>
    (await app.get('/me', token).set('X-Forwarded-For', network)).status;
  const refresh = (network: string, { refresh_token: token }: Pair) =>
    app.refresh(token).set('X-Forwarded-For', network);

  it('a thief who polls with the access token and presents the refresh token at each 401 is detected in the first round', async () => {
    const stolen = await app.login();
    expect(await use(ELSEWHERE, stolen)).toBe(200);
    const { body: pair } = await refresh(HOME, stolen).expect(200);
    expect(await use(HOME, pair)).toBe(200);
    app.clock.advance(SECOND);
    expect(await use(ELSEWHERE, stolen)).toBe(401);
    await refresh(ELSEWHERE, stolen).expect(400);
    expect(app.sent('token_reuse_detected')).toMatchObject([{ ipAddress: ELSEWHERE, sessionsEnded: 1 }]);
    expect(await use(HOME, pair)).toBe(401);
  });

  it('a thief who refreshes first and waits for the client to use the pair causes session_network_changed in every round', async () => {
    const moves = (): string[] => app.sent('session_network_changed').map(({ to }) => to);
    let stolen = (await refresh(HOME, await app.login()).expect(200)).body as Pair;
    for (let round = 0; round < 3; round++) {
      app.clock.advance(HOUR);
      const before = moves().length;
      const { body: pair } = await refresh(ELSEWHERE, stolen).expect(200);
      await refresh(HOME, stolen).expect(200, pair);
      expect([await use(HOME, pair), await use(ELSEWHERE, pair)]).toEqual([200, 200]);
      expect(moves().slice(before)).toContain(HOME);
      stolen = pair;
    }
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });
});

describeEverywhere('misplaced and planted tokens', {}, ({ app }) => {
  it('a token is refused in place of a token of another kind, and a password reset token is stored as a digest', async () => {
    const session = await app.login();
    const { access_token: access, refresh_token: refresh } = session;
    const { token: reset } = await app.auth.createPasswordResetToken(await app.userId());
    expect(JSON.stringify(await app.dataSource.query('SELECT * FROM auth_password_resets'))).not.toContain(reset);
    for (const token of [refresh, reset]) await app.get('/me', token).expect(401);
    for (const token of [access, reset]) await app.refresh(token).expect(400);
    for (const token of [access, refresh, '']) {
      const redeemed = app.auth.redeemPasswordResetToken(token, PASSWORD);
      await expect(redeemed).rejects.toMatchObject({ code: 'invalid_reset_token' });
    }
    await app.expectLive(session);
    await app.refreshed(session);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    await app.auth.redeemPasswordResetToken(reset, PASSWORD);
  });

  it('a login with the tokens of another session opens a new session and does not change the existing session', async () => {
    const planted = await app.login('bob');
    const sent = { username: 'alice', password: PASSWORD, ...planted, id: planted.session_id };
    const { body } = await app
      .post('/auth/login/', planted.access_token, sent)
      .set('Cookie', `session_id=${planted.session_id}; access_token=${planted.access_token}`)
      .set('X-Session-Id', planted.session_id)
      .expect(200);
    for (const name of ['access_token', 'refresh_token', 'session_id'] as const) {
      expect(body[name]).not.toBe(planted[name]);
    }
    expect((await app.get('/me', body.access_token).expect(200)).body).toMatchObject({ username: 'alice' });
    expect((await app.get('/me', planted.access_token).expect(200)).body).toMatchObject({ username: 'bob' });
    expect((await app.get('/auth/sessions', planted.access_token)).body).toHaveLength(1);
  });
});
