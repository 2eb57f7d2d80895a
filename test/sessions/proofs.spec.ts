import { Controller, Get } from '@nestjs/common';
import { AuthSession, RequireRecentLogin } from 'nestjs-session-auth';
import { MINUTE, SECOND } from '../support/driven-clock';
import { PASSWORD } from '../support/test-application';
import { describeOnEachDatabase } from '../support/environment';

@Controller('transfer')
@RequireRecentLogin({ withinSeconds: 300 })
class TransferController {
  @Get('otp')
  @RequireRecentLogin({ withinSeconds: 60, methods: ['otp'] })
  otp(): void {}

  @Get('both')
  @RequireRecentLogin({ withinSeconds: 300, methods: ['pwd', 'otp'] })
  both(): void {}

  @Get('any')
  any(): void {}
}

const RECENT_LOGIN_REQUIRED = { detail: 'A recent login is required.', code: 'recent_login_required' };

const PROVABLE = { auth: { endpoints: { reauthenticate: true } }, controllers: [TransferController] };

describeOnEachDatabase('the methods of a session', PROVABLE, ({ app }) => {
  const open = async (...methods: string[]) => app.auth.openSession(await app.userId(), {}, { methods });
  const methodsOf = async (accessToken: string) => (await app.principal(accessToken)).methods;
  const transfer = async (accessToken: string, statuses: Readonly<Record<string, number>>): Promise<void> => {
    for (const [path, status] of Object.entries(statuses)) {
      const { body } = await app.get(`/transfer/${path}`, accessToken).expect(status);
      if (status === 403) expect(body).toEqual(RECENT_LOGIN_REQUIRED);
    }
  };

  it('a session has the method `pwd` or those that the application passes, with their time, and refreshes keep them', async () => {
    const now = new Date(app.clock.now());
    const login = await app.login();
    expect(await methodsOf(login.access_token)).toEqual({ pwd: now });
    expect(await methodsOf((await open('hwk', 'pin')).accessToken)).toEqual({ hwk: now, pin: now });
    expect(await methodsOf((await app.auth.openSession(await app.userId())).accessToken)).toEqual({});
    app.clock.advance(MINUTE);
    expect(await methodsOf((await app.refreshed(login)).access_token)).toEqual({ pwd: now });
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
    let { accessToken } = await open('first');
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'b']) {
      app.clock.advance(SECOND);
      ({ accessToken } = await app.auth.confirmIdentity(await app.principal(accessToken), { methods: [name] }));
    }
    expect(Object.keys(await methodsOf(accessToken))).toEqual(['c', 'd', 'e', 'f', 'g', 'h', 'i', 'b']);
  });

  it('a reauthentication and a password change prove `pwd` again and no other method', async () => {
    const otp = new Date(app.clock.now());
    const opened = await open('pwd', 'otp');
    app.clock.advance(MINUTE);
    const confirmed = await app.auth.reauthenticate(await app.principal(opened.accessToken), PASSWORD);
    expect(await methodsOf(confirmed.accessToken)).toEqual({ otp, pwd: new Date(app.clock.now()) });
    app.clock.advance(MINUTE);
    const { body } = await app.changePassword(confirmed.accessToken).expect(200);
    expect(await methodsOf(body.access_token)).toEqual({ otp, pwd: new Date(app.clock.now()) });
  });

  it('confirmIdentity proves methods and returns a new pair for the session, as a reauthentication does', async () => {
    const session = await app.login();
    app.clock.advance(10 * MINUTE);
    await transfer(session.access_token, { any: 403 });
    const principal = await app.principal(session.access_token);
    const pair = await app.auth.confirmIdentity(principal, { methods: ['otp'] });
    expect(pair).toMatchObject({ accessTokenExpiresAt: expect.any(Date), refreshTokenExpiresAt: expect.any(Date) });
    await app.expectRevoked(session);
    await transfer(pair.accessToken, { any: 200, otp: 200, both: 403 });
    expect((await app.principal(pair.accessToken)).sessionId).toBe(session.session_id);
    expect(await app.events(pair.accessToken)).toEqual(['reauthentication', 'login_success']);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it('a login or method is not recent if the clock was set back to more than ten seconds before it', async () => {
    const { accessToken } = await open('pwd', 'otp');
    app.clock.advance(-10 * SECOND);
    await transfer(accessToken, { any: 200, both: 200 });
    app.clock.advance(-1);
    await transfer(accessToken, { any: 403, both: 403 });
    app.clock.advance(10 * SECOND + 1);
  });

  it('a route that requires several recent methods checks the age of each method to the millisecond', async () => {
    const { accessToken } = await open('pwd', 'otp');
    await transfer(accessToken, { any: 200, otp: 200, both: 200 });
    app.clock.advance(60 * SECOND - 1);
    await transfer(accessToken, { otp: 200 });
    app.clock.advance(1);
    await transfer(accessToken, { otp: 403 });
    const renewed = await app.auth.reauthenticate(await app.principal(accessToken), PASSWORD);
    app.clock.advance(240 * SECOND - 1);
    await transfer(renewed.accessToken, { both: 200 });
    app.clock.advance(1);
    await transfer(renewed.accessToken, { both: 403 });
    await transfer((await app.login()).access_token, { any: 200, both: 403 });
  });
});

it('a route cannot require an empty list of methods or a method without a name', () => {
  expect(() => RequireRecentLogin({ withinSeconds: 60, methods: [] })).toThrow('methods is []');
  expect(() => RequireRecentLogin({ withinSeconds: 60, methods: [''] })).toThrow('methods is [""]');
});
