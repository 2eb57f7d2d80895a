import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard, RequireRecentLogin } from 'nestjs-session-auth';
import { MINUTE, SECOND } from '../support/driven-clock';
import { PASSWORD, type Host } from '../support/host';
import { eventsOf, INVALID_REFRESH, stories, type Stage } from './stories';

@Controller('transfer')
@UseGuards(BearerAuthGuard)
class TransferController {
  @Get()
  @RequireRecentLogin({ withinSeconds: 300 })
  transfer(): object {
    return { done: true };
  }
}

const RECENT_LOGIN_REQUIRED = { detail: 'A recent login is required.', code: 'recent_login_required' };
const INVALID_ACCESS = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };

const reauthenticate = (host: Host, accessToken: string) =>
  host.post('/auth/reauthenticate/', accessToken, { password: PASSWORD });

const on = { auth: { recentLogin: { endpoint: true, toEndSessionsSeconds: 600 } }, controllers: [TransferController] };

stories('a recent login', on, (at: Stage) => {
  it('is required to the millisecond, and a login counts as one', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    host.clock.advance(300 * SECOND - 1);
    await host.get('/transfer', token).expect(200);
    host.clock.advance(1);
    const { headers } = await host.get('/transfer', token).expect(403, RECENT_LOGIN_REQUIRED);
    expect(headers['cache-control']).toBe('no-store');
    await host.get('/me', token).expect(200);
  });

  it('is not replaced by a refresh', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    host.clock.advance(5 * MINUTE);
    const { body } = await host.refresh(token).expect(200);
    await host.get('/transfer', body.access_token).expect(403, RECENT_LOGIN_REQUIRED);
  });

  it('is replaced by a reauthentication, within the same session', async () => {
    const { host } = at;
    const session = await host.login();
    host.clock.advance(10 * MINUTE);
    await host.get('/transfer', session.access_token).expect(403);
    const { body: pair } = await reauthenticate(host, session.access_token).expect(200);
    expect(pair).toEqual({ access_token: expect.any(String), refresh_token: expect.any(String), token_type: 'Bearer' });
    await host.get('/transfer', pair.access_token).expect(200);
    expect((await host.get('/me', pair.access_token).expect(200)).body.session_id).toBe(session.session_id);
    expect((await host.get('/auth/sessions', pair.access_token)).body).toHaveLength(1);
    expect(await eventsOf(host, pair.access_token)).toEqual(['reauthentication', 'login_success']);
    await host.refresh(pair.refresh_token).expect(200);
  });

  it('is not replaced by a wrong password, which counts against the session and is delayed', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    host.clock.advance(10 * MINUTE);
    const again = (body: object): ReturnType<typeof host.post> => host.post('/auth/reauthenticate', token, body);
    await again({}).expect(400, { password: ['This field is required.'] });
    for (let i = 0; i < 10; i++) await again({ password: 'wrong' }).expect(400, { password: ['Invalid password.'] });
    await again({ password: PASSWORD }).expect(429);
    expect(host.sent('login_failed')).toHaveLength(10);
    await host.get('/transfer', token).expect(403);
  });

  it('is required for ending sessions where the options say so, but never for a logout', async () => {
    const { host } = at;
    const session = await host.login();
    const other = await host.login();
    host.clock.advance(10 * MINUTE);
    await host.delete(`/auth/sessions/${other.session_id}`, session.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    await host.post('/auth/logout/all', session.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    const { body } = await reauthenticate(host, session.access_token).expect(200);
    await host.delete(`/auth/sessions/${other.session_id}`, body.access_token).expect(200);
    host.clock.advance(14 * MINUTE);
    await host.post('/auth/logout/all', body.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    await host.post('/auth/logout', body.access_token).expect(200);
  });

  it('is replaced by a password change', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    host.clock.advance(10 * MINUTE);
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    const { body } = await host.post('/auth/password/change', token, change).expect(200);
    await host.get('/transfer', body.access_token).expect(200);
  });
});

describe.each([true, false])('with rotateRefreshTokens: %s', (rotateRefreshTokens) => {
  const auth = { recentLogin: { endpoint: true }, rotateRefreshTokens };

  stories('a reauthentication', { auth }, (at: Stage) => {
    it('revokes the previous pair, and presenting its refresh token is not reuse', async () => {
      const { host } = at;
      const session = await host.login();
      const { body: old } = await host.refresh(session.refresh_token).expect(200);
      const { body: pair } = await reauthenticate(host, old.access_token).expect(200);
      expect(pair.refresh_token).not.toBe(old.refresh_token);
      await host.get('/me', old.access_token).expect(401, INVALID_ACCESS);
      for (const token of [old.refresh_token, session.refresh_token]) {
        await host.refresh(token).expect(400, INVALID_REFRESH);
      }
      const { body: next } = await host.refresh(pair.refresh_token).expect(200);
      await host.get('/me', next.access_token).expect(200);
      expect(host.sent('token_reuse_detected')).toEqual([]);
      expect(host.sent('user_logged_out')).toEqual([]);
    });

    it.each(['refreshed', 'reauthenticated', 'ended'])(
      'is 401 and changes nothing where the session was %s since the request was authenticated',
      async (how) => {
        const { host } = at;
        const session = await host.login();
        const principal = (await host.auth.authenticate(session.access_token))!;
        let token = '';
        if (how === 'refreshed') token = (await host.refresh(session.refresh_token).expect(200)).body.access_token;
        if (how === 'reauthenticated') token = (await host.auth.reauthenticate(principal, PASSWORD)).accessToken;
        if (how === 'ended') await host.auth.logout(principal);
        const late = host.auth.reauthenticate(principal, PASSWORD);
        await expect(late).rejects.toMatchObject({ code: 'access_token_invalid' });
        await host.get('/me', token).expect(how === 'ended' ? 401 : 200);
      },
    );

    it('with one access token in parallel gives one new pair, which is live, and 401 to the others', async () => {
      const { host } = at;
      const { access_token: token } = await host.login();
      const responses = await Promise.all(Array.from({ length: 4 }, () => reauthenticate(host, token)));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
      const { body: pair } = responses.find(({ status }) => status === 200)!;
      expect(await eventsOf(host, pair.access_token)).toEqual(['reauthentication', 'login_success']);
    });
  });
});

stories('an application that requires no recent login', { controllers: [TransferController] }, (at: Stage) => {
  it('has no route for a reauthentication, and ends sessions without one', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    await host.post('/auth/reauthenticate/', token, { password: PASSWORD }).expect(404);
    host.clock.advance(10 * MINUTE);
    await host.post('/auth/logout/all', token).expect(200);
  });
});
