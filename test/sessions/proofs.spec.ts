import { Controller, Get } from '@nestjs/common';
import { AuthSession, RequireRecentLogin } from 'nestjs-session-auth';
import { MINUTE, SECOND } from '../support/driven-clock';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { describeOnEachDatabase } from '../support/environment';

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

const principalOf = async (app: TestApplication, token: string) => (await app.auth.authenticate(token))!;

const CYCLIC: { tenant?: unknown } = {};
CYCLIC.tenant = [CYCLIC];

const PROVABLE = { auth: { endpoints: { reauthenticate: true } }, controllers: [TransferController] };

describeOnEachDatabase('the methods of a session', PROVABLE, ({ app }) => {
  it('a session has the method `pwd` or those that the application passes, with their time, and refreshes keep them', async () => {
    const now = new Date(app.clock.now());
    const { access_token: token, refresh_token: refreshToken } = await app.login();
    expect((await principalOf(app, token)).methods).toEqual({ pwd: now });
    const id = await app.userId();
    const { accessToken } = await app.auth.openSession(id, {}, { methods: ['hwk', 'pin'] });
    expect((await principalOf(app, accessToken)).methods).toEqual({ hwk: now, pin: now });
    expect((await principalOf(app, (await app.auth.openSession(id)).accessToken)).methods).toEqual({});
    app.clock.advance(MINUTE);
    const { body } = await app.refresh(refreshToken).expect(200);
    expect((await principalOf(app, body.access_token)).methods).toEqual({ pwd: now });
  });

  it('a session cannot be opened with invalid methods', async () => {
    const id = await app.userId();
    const lists = [[], ['Otp'], ['-otp'], ['__proto__'], ['a'.repeat(33)], [1], Array(9).fill('otp')];
    for (const methods of [...lists, 'otp', null]) {
      const opening = app.auth.openSession(id, {}, { methods: methods as never });
      await expect(opening).rejects.toThrow(/^methods is .*\. Pass 1 to 8 names, such as/);
    }
    expect(await app.dataSource.getRepository(AuthSession).count()).toBe(0);
  });

  it('a session has at most eight methods, and the least recently proven methods are dropped', async () => {
    let { accessToken } = await app.auth.openSession(await app.userId(), {}, { methods: ['first'] });
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'b']) {
      app.clock.advance(SECOND);
      ({ accessToken } = await app.auth.confirmIdentity(await principalOf(app, accessToken), { methods: [name] }));
    }
    const { methods } = await principalOf(app, accessToken);
    expect(Object.keys(methods)).toEqual(['c', 'd', 'e', 'f', 'g', 'h', 'i', 'b']);
  });

  it('a reauthentication and a password change prove `pwd` again and no other method', async () => {
    const start = new Date(app.clock.now());
    const opened = await app.auth.openSession(await app.userId(), {}, { methods: ['pwd', 'otp'] });
    app.clock.advance(MINUTE);
    const confirmed = await app.auth.reauthenticate(await principalOf(app, opened.accessToken), PASSWORD);
    const principal = await principalOf(app, confirmed.accessToken);
    expect(principal.methods).toEqual({ otp: start, pwd: new Date(app.clock.now()) });
    app.clock.advance(MINUTE);
    const changed = await app.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: PASSWORD });
    const { methods } = await principalOf(app, changed.accessToken);
    expect(methods).toEqual({ otp: start, pwd: new Date(app.clock.now()) });
  });

  it('confirmIdentity proves methods and returns a new pair for the session, as a reauthentication does', async () => {
    const session = await app.login();
    app.clock.advance(10 * MINUTE);
    await app.get('/transfer/any', session.access_token).expect(403, RECENT_LOGIN_REQUIRED);
    const principal = await principalOf(app, session.access_token);
    const pair = await app.auth.confirmIdentity(principal, { methods: ['otp'] });
    expect(pair).toMatchObject({ accessTokenExpiresAt: expect.any(Date), refreshTokenExpiresAt: expect.any(Date) });
    await app.get('/me', session.access_token).expect(401);
    await app.refresh(session.refresh_token).expect(400);
    for (const path of ['any', 'otp']) await app.get(`/transfer/${path}`, pair.accessToken).expect(200);
    await app.get('/transfer/both', pair.accessToken).expect(403, RECENT_LOGIN_REQUIRED);
    expect((await principalOf(app, pair.accessToken)).sessionId).toBe(session.session_id);
    expect(await app.events(pair.accessToken)).toEqual(['reauthentication', 'login_success']);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it('a login or method is not recent if the clock was set back to more than ten seconds before it', async () => {
    const { accessToken } = await app.auth.openSession(await app.userId(), {}, { methods: ['pwd', 'otp'] });
    for (const [seconds, status] of [
      [10, 200],
      [10.001, 403],
    ] as const) {
      app.clock.advance(-seconds * SECOND);
      await app.get('/transfer/any', accessToken).expect(status);
      await app.get('/transfer/both', accessToken).expect(status);
      app.clock.advance(seconds * SECOND);
    }
  });

  it('a route that requires several recent methods checks the age of each method to the millisecond', async () => {
    const { accessToken } = await app.auth.openSession(await app.userId(), {}, { methods: ['pwd', 'otp'] });
    for (const path of ['any', 'otp', 'both']) await app.get(`/transfer/${path}`, accessToken).expect(200);
    app.clock.advance(60 * SECOND - 1);
    await app.get('/transfer/otp', accessToken).expect(200);
    app.clock.advance(1);
    await app.get('/transfer/otp', accessToken).expect(403, RECENT_LOGIN_REQUIRED);
    const renewed = await app.auth.reauthenticate(await principalOf(app, accessToken), PASSWORD);
    app.clock.advance(240 * SECOND - 1);
    await app.get('/transfer/both', renewed.accessToken).expect(200);
    app.clock.advance(1);
    await app.get('/transfer/both', renewed.accessToken).expect(403, RECENT_LOGIN_REQUIRED);
    const { access_token: withPassword } = await app.login();
    await app.get('/transfer/any', withPassword).expect(200);
    await app.get('/transfer/both', withPassword).expect(403, RECENT_LOGIN_REQUIRED);
  });
});

it('a route cannot require an empty list of methods or a method without a name', () => {
  expect(() => RequireRecentLogin({ withinSeconds: 60, methods: [] })).toThrow('methods is []');
  expect(() => RequireRecentLogin({ withinSeconds: 60, methods: [''] })).toThrow('methods is [""]');
});

describeOnEachDatabase('the data of a session', {}, ({ app }) => {
  it('a session keeps the data with which the application opened it, through refreshes, and has an empty object without data', async () => {
    const data = { tenant: 'Ångström \u0000 🦊', roles: ['admin'] };
    const opened = await app.auth.openSession(await app.userId(), {}, { data });
    const pair = await app.auth.refresh(opened.refreshToken);
    const principal = await principalOf(app, pair.accessToken);
    expect(principal.data).toEqual(data);
    expect(principal.data.tenant).toBe(data.tenant);
    expect((await principalOf(app, (await app.login()).access_token)).data).toEqual({});
  });

  it('session data may have at most 1,024 bytes of UTF-8', async () => {
    const id = await app.userId();
    const tenant = 'é'.repeat((1024 - '{"tenant":""}'.length - 1) / 2);
    await app.auth.openSession(id, {}, { data: { tenant: `${tenant}a` } });
    const opening = app.auth.openSession(id, {}, { data: { tenant: `${tenant}ab` } });
    await expect(opening).rejects.toThrow('data has 1025 bytes as JSON, which is more than 1024');
  });

  it('session data that JSON would change cannot be stored', async () => {
    const id = await app.userId();
    const values = [new Date(0), undefined, Infinity, CYCLIC].map((tenant) => ({ tenant }));
    for (const data of ['text', ['text'], null, new (class Tenant {})(), ...values]) {
      const opening = app.auth.openSession(id, {}, { data: data as never });
      await expect(opening).rejects.toThrow('data cannot be stored as JSON');
    }
  });
});
