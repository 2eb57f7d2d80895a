import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard, RequireRecentLogin } from 'nestjs-session-auth';
import { MINUTE, SECOND } from '../support/driven-clock';
import { PASSWORD } from '../support/host';
import { eventsOf, stories, type Stage } from './stories';

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
const on = { auth: { recentLogin: { endpoint: true, toEndSessionsSeconds: 600 } }, controllers: [TransferController] };

stories('a recent login', on, (at: Stage) => {
  it('is asked for to the millisecond, and a login is one', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    host.clock.advance(300 * SECOND - 1);
    await host.get('/transfer', token).expect(200);
    host.clock.advance(1);
    const { headers } = await host.get('/transfer', token).expect(403, RECENT_LOGIN_REQUIRED);
    expect(headers['cache-control']).toBe('no-store');
    await host.get('/me', token).expect(200);
  });

  it('is not what a refresh is', async () => {
    const { host } = at;
    const { refresh_token: token } = await host.login();
    host.clock.advance(5 * MINUTE);
    const { body } = await host.refresh(token).expect(200);
    await host.get('/transfer', body.access_token).expect(403, RECENT_LOGIN_REQUIRED);
  });

  it('can be made up for in the session that is there, without a second one', async () => {
    const { host } = at;
    const session = await host.login();
    host.clock.advance(10 * MINUTE);
    await host.get('/transfer', session.access_token).expect(403);
    await host
      .post('/auth/reauthenticate/', session.access_token, { password: PASSWORD })
      .expect(200, { detail: 'Reauthenticated.' });
    await host.get('/transfer', session.access_token).expect(200);
    expect((await host.get('/auth/sessions', session.access_token)).body).toHaveLength(1);
    expect(await eventsOf(host, session.access_token)).toEqual(['login_success']);
    await host.refresh(session.refresh_token).expect(200);
  });

  it('refuses a wrong password, counts it as a failed login, and delays it', async () => {
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

  it('is asked for before sessions are ended, where the options say so, but never for a logout', async () => {
    const { host } = at;
    const session = await host.login();
    const other = await host.login();
    host.clock.advance(10 * MINUTE);
    await host.delete(`/auth/sessions/${other.session_id}`, session.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    await host.post('/auth/logout/all', session.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    await host.post('/auth/reauthenticate', session.access_token, { password: PASSWORD }).expect(200);
    await host.delete(`/auth/sessions/${other.session_id}`, session.access_token).expect(200);
    host.clock.advance(4 * MINUTE);
    await host.post('/auth/logout', session.access_token).expect(200);
  });

  it('is what a change of password is too', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    host.clock.advance(10 * MINUTE);
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    const { body } = await host.post('/auth/password/change', token, change).expect(200);
    await host.get('/transfer', body.access_token).expect(200);
  });
});

stories('a host that asks for no recent login', { controllers: [TransferController] }, (at: Stage) => {
  it('has no route for it, and ends sessions without one', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    await host.post('/auth/reauthenticate/', token, { password: PASSWORD }).expect(404);
    host.clock.advance(10 * MINUTE);
    await host.post('/auth/logout/all', token).expect(200);
  });
});
