import { Controller, Get } from '@nestjs/common';
import { AuthSession, RequireRecentLogin } from 'nestjs-session-auth';
import { MINUTE, SECOND } from '../support/driven-clock';
import { PASSWORD, type Host } from '../support/host';
import { eventsOf, stories, type Stage } from './stories';

declare module 'nestjs-session-auth' {
  interface SessionData {
    tenant: string;
    roles: string[];
  }
}

@Controller('transfer')
@RequireRecentLogin({ withinSeconds: 300 })
class TransferController {
  @Get('otp')
  @RequireRecentLogin({ withinSeconds: 60, methods: ['otp'] })
  otp(): object {
    return { done: true };
  }

  @Get('both')
  @RequireRecentLogin({ withinSeconds: 300, methods: ['pwd', 'otp'] })
  both(): object {
    return { done: true };
  }

  @Get('any')
  any(): object {
    return { done: true };
  }
}

const RECENT_LOGIN_REQUIRED = { detail: 'A recent login is required.', code: 'recent_login_required' };

const idOf = async (host: Host): Promise<string> => {
  const [row] = await host.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
  return row.id;
};
const principalOf = async (host: Host, token: string) => (await host.auth.authenticate(token))!;

stories(
  'the methods of a session',
  { auth: { recentLogin: { endpoint: true } }, controllers: [TransferController] },
  (at: Stage) => {
    it('are `pwd` after a login, with its time, and stay through refreshes', async () => {
      const { host } = at;
      const now = new Date(host.clock.now());
      const { access_token: token, refresh_token: refreshToken } = await host.login();
      expect((await principalOf(host, token)).methods).toEqual({ pwd: now });
      host.clock.advance(MINUTE);
      const { body } = await host.refresh(refreshToken).expect(200);
      expect((await principalOf(host, body.access_token)).methods).toEqual({ pwd: now });
    });

    it('are those that the application opens the session with', async () => {
      const { host } = at;
      const id = await idOf(host);
      const now = new Date(host.clock.now());
      const { accessToken } = await host.auth.openSession(id, {}, { methods: ['hwk', 'pin'] });
      expect((await principalOf(host, accessToken)).methods).toEqual({ hwk: now, pin: now });
      expect((await principalOf(host, (await host.auth.openSession(id)).accessToken)).methods).toEqual({});
    });

    it.each([
      [[]],
      [['Otp']],
      [['-otp']],
      [['__proto__']],
      [['a'.repeat(33)]],
      ['otp'],
      [[1]],
      [null],
      [Array(9).fill('otp')],
    ])('cannot be %j', async (methods) => {
      const { host } = at;
      const opening = host.auth.openSession(await idOf(host), {}, { methods: methods as never });
      await expect(opening).rejects.toThrow(/^methods is .*; write 1 to 8 names of RFC 8176/);
      expect(await host.dataSource.getRepository(AuthSession).count()).toBe(0);
    });

    it('are at most eight, without those proved longest ago', async () => {
      const { host } = at;
      let { accessToken } = await host.auth.openSession(await idOf(host), {}, { methods: ['first'] });
      for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'b']) {
        host.clock.advance(SECOND);
        ({ accessToken } = await host.auth.confirmIdentity(await principalOf(host, accessToken), { methods: [name] }));
      }
      const { methods } = await principalOf(host, accessToken);
      expect(Object.keys(methods)).toEqual(['c', 'd', 'e', 'f', 'g', 'h', 'i', 'b']);
    });

    it('are proved again by a reauthentication and a password change, as `pwd` alone', async () => {
      const { host } = at;
      const start = new Date(host.clock.now());
      const opened = await host.auth.openSession(await idOf(host), {}, { methods: ['pwd', 'otp'] });
      host.clock.advance(MINUTE);
      const principal = await principalOf(host, opened.accessToken);
      const confirmed = await host.auth.reauthenticate(principal, PASSWORD);
      const reauthenticated = await principalOf(host, confirmed.accessToken);
      expect(reauthenticated.methods).toEqual({ otp: start, pwd: new Date(host.clock.now()) });
      host.clock.advance(MINUTE);
      const change = { currentPassword: PASSWORD, newPassword: PASSWORD };
      const changed = await host.auth.changePassword(reauthenticated, change);
      expect((await principalOf(host, changed.accessToken)).methods).toEqual({
        otp: start,
        pwd: new Date(host.clock.now()),
      });
    });

    it('are proved by confirmIdentity, which returns a new pair for the session as a reauthentication does', async () => {
      const { host } = at;
      const session = await host.login();
      host.clock.advance(10 * MINUTE);
      await host.get('/transfer/any', session.access_token).expect(403, RECENT_LOGIN_REQUIRED);
      const principal = await principalOf(host, session.access_token);
      const pair = await host.auth.confirmIdentity(principal, { methods: ['otp'] });
      expect(pair).toMatchObject({ accessTokenExpiresAt: expect.any(Date), refreshTokenExpiresAt: expect.any(Date) });
      await host.get('/me', session.access_token).expect(401);
      await host.refresh(session.refresh_token).expect(400);
      for (const path of ['any', 'otp']) await host.get(`/transfer/${path}`, pair.accessToken).expect(200);
      await host.get('/transfer/both', pair.accessToken).expect(403, RECENT_LOGIN_REQUIRED);
      expect((await principalOf(host, pair.accessToken)).session.id).toBe(session.session_id);
      expect(await eventsOf(host, pair.accessToken)).toEqual(['reauthentication', 'login_success']);
      expect(host.sent('token_reuse_detected')).toEqual([]);
    });

    it('are not proved with an access token that is not live any more', async () => {
      const { host } = at;
      const { access_token: token, refresh_token: refreshToken } = await host.login();
      const principal = await principalOf(host, token);
      await host.refresh(refreshToken).expect(200);
      const late = host.auth.confirmIdentity(principal, { methods: ['otp'] });
      await expect(late).rejects.toMatchObject({ code: 'access_token_invalid' });
      const made = host.auth.confirmIdentity({ ...principal, methods: {}, data: {} }, { methods: ['otp'] });
      await expect(made).rejects.toMatchObject({ code: 'access_token_invalid' });
      await expect(host.auth.confirmIdentity(principal, { methods: [] })).rejects.toThrow('methods is []');
    });

    it('are kept where another one was proved since the request was authenticated', async () => {
      const { host } = at;
      const { access_token: token, session_id: id } = await host.login();
      const principal = await principalOf(host, token);
      const since = new Date(host.clock.now() - SECOND);
      const methods = JSON.stringify({ hwk: since.getTime() });
      await host.dataSource.getRepository(AuthSession).update({ id }, { methods });
      const { accessToken } = await host.auth.confirmIdentity(principal, { methods: ['otp'] });
      expect((await principalOf(host, accessToken)).methods).toEqual({ hwk: since, otp: new Date(host.clock.now()) });
    });

    it('are each required to be recent, to the millisecond, where a route names them', async () => {
      const { host } = at;
      const { accessToken } = await host.auth.openSession(await idOf(host), {}, { methods: ['pwd', 'otp'] });
      for (const path of ['any', 'otp', 'both']) await host.get(`/transfer/${path}`, accessToken).expect(200);
      host.clock.advance(60 * SECOND - 1);
      await host.get('/transfer/otp', accessToken).expect(200);
      host.clock.advance(1);
      await host.get('/transfer/otp', accessToken).expect(403, RECENT_LOGIN_REQUIRED);
      await host.get('/transfer/both', accessToken).expect(200);
      const { access_token: withPassword } = await host.login();
      await host.get('/transfer/any', withPassword).expect(200);
      await host.get('/transfer/both', withPassword).expect(403, RECENT_LOGIN_REQUIRED);
    });
  },
);

it('a route cannot require no method, or one without a name', () => {
  expect(() => RequireRecentLogin({ withinSeconds: 60, methods: [] })).toThrow('methods is []');
  expect(() => RequireRecentLogin({ withinSeconds: 60, methods: [''] })).toThrow('methods is [""]');
});

stories('the data of a session', {}, (at: Stage) => {
  it('is what the application opened it with, through refreshes', async () => {
    const { host } = at;
    const data = { tenant: 'Ångström \u0000 🦊', roles: ['admin'] };
    const opened = await host.auth.openSession(await idOf(host), {}, { data });
    const pair = await host.auth.refresh(opened.refreshToken);
    const principal = await principalOf(host, pair.accessToken);
    expect(principal.data).toEqual(data);
    expect(principal.data.tenant).toBe(data.tenant);
  });

  it('is empty without', async () => {
    const { host } = at;
    expect((await principalOf(host, (await host.login()).access_token)).data).toEqual({});
  });

  it('is at most 1,024 bytes of UTF-8', async () => {
    const { host } = at;
    const id = await idOf(host);
    const tenant = 'é'.repeat((1024 - '{"tenant":""}'.length - 1) / 2);
    await host.auth.openSession(id, {}, { data: { tenant: `${tenant}a` } });
    const opening = host.auth.openSession(id, {}, { data: { tenant: `${tenant}ab` } });
    await expect(opening).rejects.toThrow('data has 1025 bytes as JSON, and 1024 are the most');
  });

  it.each([
    ['a text', 'text'],
    ['a list', ['text']],
    ['null', null],
    ['a date', { tenant: new Date(0) }],
    ['an object of a class', new (class Tenant {})()],
    ['undefined as a value', { tenant: undefined }],
    ['a number that JSON has not', { tenant: Infinity }],
  ])('cannot be %s', async (_, data) => {
    const { host } = at;
    const opening = host.auth.openSession(await idOf(host), {}, { data: data as never });
    await expect(opening).rejects.toThrow('data cannot be stored as JSON');
  });
});
