import { RequireRecentLogin } from 'nestjs-session-auth';
import { MINUTE, SECOND } from '../support/driven-clock';
import { describeApplication, describeOnEachDatabase, INVALID_ACCESS } from '../support/environment';
import { controllerOf, GUARD } from '../support/handlers';
import { INVALID_REFRESH, PASSWORD, type TestApplication } from '../support/test-application';

const RECENT = RequireRecentLogin({ withinSeconds: 300 });
const controllers = [controllerOf('', [GUARD], { transfer: [RECENT] })];

const RECENT_LOGIN_REQUIRED = { detail: 'A recent login is required.', code: 'recent_login_required' };

const reauthenticate = (app: TestApplication, accessToken: string) =>
  app.post('/auth/reauthenticate/', accessToken, { password: PASSWORD });

const on = {
  auth: { endpoints: { reauthenticate: true }, recentLogin: { toEndSessionsSeconds: 600 } },
  controllers,
};

describeApplication('recent logins', on, ({ app }) => {
  it('a recent login is required to the millisecond, and a login counts as recent, but a refresh does not', async () => {
    const { access_token: token, refresh_token } = await app.login();
    app.clock.advance(300 * SECOND - 1);
    await app.get('/transfer', token).expect(200);
    app.clock.advance(1);
    const { headers } = await app.get('/transfer', token).expect(403, RECENT_LOGIN_REQUIRED);
    expect(headers['cache-control']).toBe('no-store');
    await app.get('/me', token).expect(200);
    const { body } = await app.refresh(refresh_token).expect(200);
    await app.get('/transfer', body.access_token).expect(403, RECENT_LOGIN_REQUIRED);
  });

  it('a reauthentication counts as a recent login of the same session, and so does a password change', async () => {
    const session = await app.login();
    app.clock.advance(10 * MINUTE);
    await app.get('/transfer', session.access_token).expect(403);
    const { body: pair } = await reauthenticate(app, session.access_token).expect(200);
    expect(pair).toEqual({ access_token: expect.any(String), refresh_token: expect.any(String), token_type: 'Bearer' });
    await app.get('/transfer', pair.access_token).expect(200);
    expect((await app.get('/me', pair.access_token).expect(200)).body.session_id).toBe(session.session_id);
    expect(await app.events(pair.access_token)).toEqual(['reauthentication', 'login_success']);
    const next = await app.refreshed(pair);
    app.clock.advance(10 * MINUTE);
    const { body: changed } = await app.changePassword(next.access_token).expect(200);
    await app.get('/transfer', changed.access_token).expect(200);
  });

  it('the options can require a recent login to end sessions, but never for a logout', async () => {
    const [session, other] = [await app.login(), await app.login()];
    app.clock.advance(10 * MINUTE);
    await app.delete(`/auth/sessions/${other.session_id}`, session.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    await app.post('/auth/logout/all', session.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    const { body } = await reauthenticate(app, session.access_token).expect(200);
    await app.delete(`/auth/sessions/${other.session_id}`, body.access_token).expect(200);
    app.clock.advance(14 * MINUTE);
    await app.post('/auth/logout/all', body.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    await app.post('/auth/logout', body.access_token).expect(200);
  });
});

describe.each([true, false])('with rotateRefreshTokens: %s', (rotateRefreshTokens) => {
  const auth = { endpoints: { reauthenticate: true }, rotateRefreshTokens };

  describeOnEachDatabase('reauthentication', { auth }, ({ app }) => {
    it('a reauthentication with the current access token revokes the pair, and presenting its refresh token is not reuse', async () => {
      const session = await app.login();
      const former = await app.principal(session.access_token);
      const old = await app.refreshed(session);
      const late = app.auth.reauthenticate(former, PASSWORD);
      await expect(late).rejects.toMatchObject({ code: 'access_token_invalid' });
      const { body: pair } = await reauthenticate(app, old.access_token).expect(200);
      expect(pair.refresh_token).not.toBe(old.refresh_token);
      await app.get('/me', old.access_token).expect(401, INVALID_ACCESS);
      for (const token of [old.refresh_token, session.refresh_token]) {
        await app.refresh(token).expect(400, INVALID_REFRESH);
      }
      await app.expectLive(await app.refreshed(pair));
      expect(app.sent('token_reuse_detected')).toEqual([]);
      expect(app.sent('user_logged_out')).toEqual([]);
    });
  });
});
