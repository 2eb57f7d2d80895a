import { type AuthError, AuthLoginFailure } from 'nestjs-session-auth';
import { inspect } from 'node:util';
import { MINUTE } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';
import { CREDENTIALS, PASSWORD } from '../support/test-application';
import {
  auth,
  CLIENT,
  enrolled,
  INVALID_TICKET,
  namesOf,
  noFailures,
  REQUIRED,
  right,
  sessionsOf,
  ticketFor,
  ticketsOf,
  wrong,
} from './enrolled-users';

describeOnEachDatabase('logins of users who need a second factor', { auth }, ({ app }) => {
  beforeEach(() => void enrolled.names.add('alice'));

  it('a login that needs a second factor fails with 403 and a login ticket, which opens a session after the second factor', async () => {
    const { body, headers } = await app.http.post('/auth/login/').send(CREDENTIALS).expect(403);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      detail: 'A second factor is required.',
      code: 'second_factor_required',
      login_ticket: expect.stringMatching(/^nsal_[\w-]{44}\w{6}$/),
    });
    expect(await sessionsOf(app)).toBe(0);
    expect(await namesOf(app)).toEqual(['first_factor_success']);
    expect(app.signals).toEqual([]);
    const start = new Date(app.clock.now());
    app.clock.advance(MINUTE);
    const ticket = body.login_ticket as string;
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(REQUIRED);
    expect(await right(app, ticket)).toBe(true);
    const { accessToken } = await app.auth.openSession({ ticket }, CLIENT);
    const principal = await app.principal(accessToken);
    expect(principal.methods).toEqual({ pwd: start, otp: new Date(app.clock.now()) });
    expect(await namesOf(app)).toEqual(['login_success', 'first_factor_success']);
    expect(app.sent('user_logged_in')).toHaveLength(1);
  });

  it('AuthService.login() rejects with the login ticket, and no log of the error contains the ticket', async () => {
    const error = (await app.auth.login(CREDENTIALS).catch((thrown: unknown) => thrown)) as AuthError;
    expect(error).toMatchObject(REQUIRED);
    const ticket = error.loginTicket!;
    const logged = JSON.stringify(error) + String(error) + inspect(error, { showHidden: true, depth: 5 });
    expect(logged).not.toContain(ticket);
    await right(app, ticket);
    await app.auth.openSession({ ticket });
  });

  it('the SecondFactor receives the user without the hash, and the client object that the application passes, but only after the right password', async () => {
    await app.failLogin();
    expect([enrolled.asked, await ticketsOf(app)]).toEqual([[], 0]);
    const client = { ...CLIENT, deviceToken: 'trusted' };
    const { loginTicket } = (await app.auth.login(CREDENTIALS, client).catch((thrown: unknown) => thrown)) as AuthError;
    await expect(app.auth.openSession({ ticket: loginTicket! }, client)).rejects.toMatchObject(REQUIRED);
    expect(enrolled.asked.map((asked) => asked.client === client)).toEqual([true, true]);
    await app.http.post('/auth/login').set('User-Agent', 'browser').send(CREDENTIALS).expect(403);
    const user = { id: await app.userId(), username: 'alice' };
    expect(enrolled.asked.map((asked) => asked.user)).toEqual([user, user, user]);
    expect(enrolled.asked[2]!.client).toMatchObject({ userAgent: 'browser' });
  });

  it.each<[string, () => unknown, RegExp]>([
    ['throws', () => JSON.parse('{'), /The second factor failed in isRequired\(\): SyntaxError/],
    ['rejects', () => Promise.reject(new Error('out of order')), /failed in isRequired\(\): .*out of order/],
    ['returns undefined', () => undefined, /isRequired\(\) of the second factor returned undefined\. Return true or/],
    ['returns a string', () => 'no', /isRequired\(\) of the second factor returned a string\./],
    ['returns null', () => Promise.resolve(null), /isRequired\(\) of the second factor returned null\./],
  ])('a login fails with 503 and counts as no failure if the SecondFactor %s', async (_, answer, line) => {
    enrolled.answer = answer;
    await app.http.post('/auth/login').send(CREDENTIALS).expect(503, { detail: 'The second factor is unavailable.' });
    expect([await sessionsOf(app), await ticketsOf(app)]).toEqual([0, 0]);
    expect(app.logs.join('\n')).toMatch(line);
    await noFailures(app);
  });

  it.each([true, false])(
    'a login during a logout of all checks twice whether a second factor is required, and counts no failure (required the second time: %s)',
    async (isEnabled) => {
      enrolled.names.clear();
      const alice = await app.userId();
      const principal = await app.principal((await app.auth.openSession(alice)).accessToken);
      enrolled.answer = async (required) => {
        enrolled.answer = null;
        if (isEnabled) enrolled.names.add('alice');
        await app.auth.logoutAll(principal);
        return required;
      };
      const login = app.auth.login(CREDENTIALS).catch((error: AuthError) => error.code);
      expect(await login).toEqual(isEnabled ? 'second_factor_required' : expect.any(Object));
      expect(enrolled.asked).toHaveLength(2);
      expect(await namesOf(app)).not.toContain('login_failure');
      expect(await app.auth.listSessions(alice)).toHaveLength(isEnabled ? 0 : 1);
    },
  );

  it('no endpoint opens a session without the second factor: login, refresh, reset, password change and reauthentication', async () => {
    const ticket = await ticketFor(app);
    await app.refresh(ticket).expect(400);
    for (const path of ['/me', '/auth/sessions', '/auth/history']) await app.get(path, ticket).expect(401);
    for (const path of ['reauthenticate', 'password/change', 'logout', 'logout/all']) {
      const body = { password: PASSWORD, current_password: PASSWORD, new_password: PASSWORD };
      await app.post(`/auth/${path}`, ticket, body).expect(401);
    }
    const { token } = await app.auth.createPasswordResetToken(await app.userId());
    await app.auth.redeemPasswordResetToken(token, PASSWORD);
    await app.http.post('/auth/login').send(CREDENTIALS).expect(403);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(INVALID_TICKET);
    expect(await sessionsOf(app)).toBe(0);
  });
});

describeOnEachDatabase('verifyCredentials and attempts within a session', { auth }, ({ app }) => {
  const attempt = async (token: string, isRight: boolean) =>
    app.auth.attempt({ principal: await app.principal(token), method: 'otp' }, CLIENT, () => isRight);

  it('verifyCredentials is throttled and counted together with logins', async () => {
    const guess = { ...CREDENTIALS, password: 'wrong' };
    for (let i = 0; i < 5; i++) {
      const refused = { code: 'invalid_credentials' };
      await expect(app.auth.verifyCredentials(guess, CLIENT)).rejects.toMatchObject(refused);
      await expect(app.auth.login(guess, CLIENT)).rejects.toMatchObject(refused);
    }
    const delayed = { code: 'too_many_attempts', retryAfterSeconds: 30 };
    await expect(app.auth.verifyCredentials(CREDENTIALS, CLIENT)).rejects.toMatchObject(delayed);
  });

  it('verifyCredentials returns the user and a ticket, and records the first step', async () => {
    const { user, ticket } = await app.auth.verifyCredentials(CREDENTIALS, CLIENT);
    expect(user).toEqual({ id: await app.userId(), username: 'alice' });
    const [event] = await app.auth.history(user.id);
    expect(event).toMatchObject({ event: 'first_factor_success', ...CLIENT, extra: {} });
    const { accessToken } = await app.auth.openSession({ ticket });
    expect(Object.keys((await app.principal(accessToken)).methods)).toEqual(['pwd']);
  });

  it('a right attempt adds its method with the time, and does not renew the login', async () => {
    const { access_token: token } = await app.login();
    const before = await app.principal(token);
    app.clock.advance(MINUTE);
    expect(await attempt(token, true)).toBe(true);
    const { methods, authenticatedAt } = await app.principal(token);
    expect(methods).toEqual({ ...before.methods, otp: new Date(app.clock.now()) });
    expect(authenticatedAt).toEqual(before.authenticatedAt);
  });

  it('failed attempts are counted per method, with the delays of passwords, and the 100th of a method ends the session', async () => {
    const { access_token: token } = await app.login();
    for (let i = 0; i < 9; i++) expect(await attempt(token, false)).toBe(false);
    for (let i = 0; i < 9; i++) await app.post('/auth/reauthenticate', token, { password: 'wrong' }).expect(400);
    expect(await attempt(token, false)).toBe(false);
    const delayed = { code: 'too_many_attempts', retryAfterSeconds: 30 };
    await expect(attempt(token, true)).rejects.toMatchObject(delayed);
    expect(app.sent('brute_force_threshold_hit').map(({ scope }) => scope)).toEqual(['session', 'session']);
    await app.login();
    const failures = app.dataSource.getRepository(AuthLoginFailure);
    await failures.update({ method: 'otp' }, { failureCount: 99, delayedUntil: 0 });
    expect(await attempt(token, false)).toBe(false);
    await app.get('/me', token).expect(401);
    expect(app.sent('user_logged_out')).toMatchObject([{ reason: 'failed_reauthentication' }]);
  });

  it('failed attempts within sessions and with tickets together block the method of the user, but not passwords', async () => {
    for (let i = 0; i < 2; i++) {
      const { access_token: token } = await app.login();
      for (let j = 0; j < 9; j++) await attempt(token, false);
    }
    await app.dataSource.getRepository(AuthLoginFailure).update({ failureCount: 18 }, { failureCount: 98 });
    for (const ipAddress of ['192.0.2.1', '192.0.2.2']) await wrong(app, await ticketFor(app), { ipAddress });
    expect(app.sent('login_blocked')).toMatchObject([{ scope: 'account' }]);
    const { access_token: token } = await app.login();
    await expect(attempt(token, true)).rejects.toMatchObject({ code: 'too_many_attempts' });
    await app.post('/auth/reauthenticate', token, { password: PASSWORD }).expect(200);
  });

  it('an attempt is refused if the access token is no longer current', async () => {
    const { access_token: token, refresh_token: refreshToken } = await app.login();
    const principal = await app.principal(token);
    const refused = { code: 'access_token_invalid' };
    const attempted = (of: object, check: () => boolean | Promise<boolean>) =>
      app.auth.attempt({ principal: of as typeof principal, method: 'otp' }, CLIENT, check);
    const late = attempted(principal, async () => Boolean(await app.refresh(refreshToken).expect(200)));
    await expect(late).rejects.toMatchObject(refused);
    await expect(attempted({ ...principal, methods: {}, data: {} }, () => true)).rejects.toMatchObject(refused);
  });

  it('attempt() cannot be called without a login ticket or a principal, or with an invalid name of a method', async () => {
    const method = 'otp';
    for (const target of [{ method }, { method, principal: undefined }, { method, principal: null }, undefined]) {
      const attempted = app.auth.attempt(target as never, CLIENT, () => true);
      await expect(attempted).rejects.toThrow('Pass attempt() a login ticket or a principal.');
    }
    await expect(right(app, '', 'OTP')).rejects.toThrow('method is "OTP"');
  });
});
