import { stories, storiesOnBothPlatforms, type Stage } from '../e2e/stories';
import { HOUR, SECOND } from '../support/driven-clock';
import { PASSWORD } from '../support/host';

const HOME = '198.51.100.7';
const ELSEWHERE = '203.0.113.9';

stories(
  'a thief of both tokens within a grace period',
  { auth: { refreshReuseGraceSeconds: 10 }, trustProxy: true },
  (at: Stage) => {
    it('who polls with the access token, and presents the refresh token at each 401, is detected in the first round', async () => {
      const { host } = at;
      const stolen = await host.login();
      const poll = async (): Promise<number> =>
        (await host.get('/me', stolen.access_token).set('X-Forwarded-For', ELSEWHERE)).status;
      expect(await poll()).toBe(200);
      const { body: pair } = await host.refresh(stolen.refresh_token).set('X-Forwarded-For', HOME).expect(200);
      await host.get('/me', pair.access_token).set('X-Forwarded-For', HOME).expect(200);
      host.clock.advance(SECOND);
      expect(await poll()).toBe(401);
      await host.refresh(stolen.refresh_token).set('X-Forwarded-For', ELSEWHERE).expect(400);
      expect(host.sent('token_reuse_detected')).toMatchObject([{ ipAddress: ELSEWHERE, sessionsEnded: 1 }]);
      await host.get('/me', pair.access_token).set('X-Forwarded-For', HOME).expect(401);
    });

    it('who refreshes first, and uses the pair only once the client has it too, is signalled by the networks in every round', async () => {
      const { host } = at;
      const moves = (): string[] => host.sent('session_network_changed').map(({ to }) => to);
      const first = await host.login();
      let stolen = (await host.refresh(first.refresh_token).set('X-Forwarded-For', HOME).expect(200)).body
        .refresh_token;
      for (let round = 0; round < 3; round++) {
        host.clock.advance(HOUR);
        const before = moves().length;
        const { body: pair } = await host.refresh(stolen).set('X-Forwarded-For', ELSEWHERE).expect(200);
        await host.refresh(stolen).set('X-Forwarded-For', HOME).expect(200, pair);
        for (const from of [HOME, ELSEWHERE]) {
          await host.get('/me', pair.access_token).set('X-Forwarded-For', from).expect(200);
        }
        expect(moves().slice(before)).toContain(HOME);
        stolen = pair.refresh_token;
      }
      expect(host.sent('token_reuse_detected')).toEqual([]);
    });
  },
);

storiesOnBothPlatforms('a token in the place of another kind', {}, (at: Stage) => {
  it('is refused, and remains valid where it belongs', async () => {
    const { host } = at;
    const { access_token: access, refresh_token: refresh } = await host.login();
    const [{ id }] = await host.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
    const { token: reset } = await host.auth.createPasswordResetToken(id);
    for (const token of [refresh, reset]) await host.get('/me', token).expect(401);
    for (const token of [access, reset]) await host.refresh(token).expect(400);
    for (const token of [access, refresh]) {
      const redeemed = host.auth.redeemPasswordResetToken(token, PASSWORD);
      await expect(redeemed).rejects.toMatchObject({ code: 'invalid_reset_token' });
    }
    await host.get('/me', access).expect(200);
    await host.refresh(refresh).expect(200);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    await host.auth.redeemPasswordResetToken(reset, PASSWORD);
  });
});

storiesOnBothPlatforms('a login that brings a session along', {}, (at: Stage) => {
  it('opens a new session, and does not change the other one', async () => {
    const { host } = at;
    const planted = await host.login('bob');
    const { status, body } = await host
      .post('/auth/login/', planted.access_token, {
        username: 'alice',
        password: PASSWORD,
        ...planted,
        id: planted.session_id,
      })
      .set('Cookie', `session_id=${planted.session_id}; access_token=${planted.access_token}`)
      .set('X-Session-Id', planted.session_id);
    expect(status).toBe(200);
    for (const name of ['access_token', 'refresh_token', 'session_id'] as const) {
      expect(body[name]).not.toBe(planted[name]);
    }
    expect((await host.get('/me', body.access_token).expect(200)).body).toMatchObject({ username: 'alice' });
    expect((await host.get('/me', planted.access_token).expect(200)).body).toMatchObject({ username: 'bob' });
    expect((await host.get('/auth/sessions', planted.access_token)).body).toHaveLength(1);
  });
});
