import { AuthLoginFailure } from 'nestjs-session-auth';
import { DAY, HOUR, SECOND } from '../support/driven-clock';
import { describeEverywhere, describeOnEachDatabase, INVALID_CREDENTIALS } from '../support/environment';
import { DrivenLoginPolicy, SUSPENDED } from '../support/login-policy';
import { okOrCode, CREDENTIALS, type TestApplication } from '../support/test-application';
import { CLIENT, enrolled, noFailures, sessionsOf } from './enrolled-users';

const REFUSED = { code: 'login_refused', reason: 'account_suspended', message: 'Your account is suspended.' };
const UNAVAILABLE = { detail: 'The login policy is unavailable.' };

const policy = new DrivenLoginPolicy();
const auth = { loginPolicy: policy, secondFactor: enrolled };

beforeEach(() => policy.reset());

const failures = (app: TestApplication): Promise<number> => app.dataSource.getRepository(AuthLoginFailure).count();
/** The ways to open a session. Each returns what it answers. */
const WAYS: Readonly<Record<string, (app: TestApplication) => Promise<unknown>>> = {
  login: (app) => app.auth.login(CREDENTIALS, CLIENT),
  'a ticket of verifyCredentials': async (app) => {
    const { ticket } = await app.auth.verifyCredentials(CREDENTIALS, CLIENT);
    return app.auth.openSession({ ticket }, CLIENT);
  },
  'a second factor': async (app) => {
    enrolled.names.add('alice');
    const { body } = await app.http.post('/auth/login/').send(CREDENTIALS).expect(403);
    const ticket = body.login_ticket as string;
    await app.auth.attempt({ ticket, method: 'otp' }, CLIENT, () => true);
    return app.auth.openSession({ ticket }, CLIENT);
  },
  'openSession for single sign-on': async (app) =>
    app.auth.openSession(await app.userId(), CLIENT, { methods: ['sso'] }),
  'a ticket of createLoginTicket': async (app) => {
    const ticket = await app.auth.createLoginTicket(await app.userId(), { methods: ['hwk'] }, CLIENT);
    return app.auth.openSession({ ticket }, CLIENT);
  },
};

describeEverywhere('a refusal by the login policy', { auth }, ({ app }) => {
  it('a refused login is 403 with the code and the detail of the policy, without cookies or a ticket', async () => {
    policy.answer = () => SUSPENDED;
    const { code, detail } = SUSPENDED.refuse;
    const response = await app.http.post('/auth/login/').send(CREDENTIALS).expect(403, { detail, code });
    expect([response.headers['cache-control'], response.headers['set-cookie']]).toEqual(['no-store', undefined]);
    expect(await sessionsOf(app)).toBe(0);
  });

  it('somebody without the password, and a disabled user, get the usual answer, and the policy is not asked', async () => {
    policy.answer = () => SUSPENDED;
    const login = (body: object) => app.http.post('/auth/login/').send(body).expect(400, INVALID_CREDENTIALS);
    await login({ ...CREDENTIALS, password: 'wrong' });
    await login({ ...CREDENTIALS, username: 'nobody' });
    await app.setActive('alice', false);
    await login(CREDENTIALS);
    await app.setActive('alice', true);
    enrolled.names.add('alice');
    await app.http.post('/auth/login/').send(CREDENTIALS).expect(403);
    await app.auth.verifyCredentials(CREDENTIALS);
    expect(policy.asked).toEqual([]);
  });

  const refuse = (given: unknown) => () => ({ refuse: given });
  it.each<[string, () => unknown, RegExp]>([
    ['throws', () => JSON.parse('{'), /The login policy failed in decide\(\): SyntaxError/],
    ['returns a boolean', () => true, /decide\(\) of the login policy returned a boolean\. Return terms/],
    ['misspells a property', () => ({ refused: SUSPENDED.refuse }), /returned an unknown property\. Use only refuse,/],
    ['uses a code of the library', refuse({ code: 'second_factor_required', detail: 'no' }), /a wrong refuse\./],
    ['uses the reason of the session limit', refuse({ code: 'session_limit', detail: 'no' }), /a wrong refuse\./],
    ['refuses without a detail', refuse({ code: 'no' }), /a wrong refuse\. Return \{ code, detail \}/],
    ['refuses with false', refuse(false), /a wrong refuse\./],
    ['returns an idle timeout below the interval of activity', () => ({ idleTimeoutSeconds: 239 }), /at least 240\./],
    ['returns an absolute timeout of zero', () => ({ absoluteTimeoutSeconds: 0 }), /a wrong absoluteTimeoutSeconds\./],
    ['returns a number as text', () => ({ absoluteTimeoutSeconds: '60' }), /a wrong absoluteTimeoutSeconds\./],
    ['returns data larger than 1 kB', () => ({ data: { tenant: 'x'.repeat(1100) } }), /data has \d+ bytes/],
    ['returns data that is no JSON', () => ({ data: { tenant: new Date() } }), /data cannot be stored as JSON/],
  ])('a login fails with 503 and counts as no failure if the policy %s', async (_, answer, line) => {
    policy.answer = answer;
    const response = await app.http.post('/auth/login/').send(CREDENTIALS).expect(503, UNAVAILABLE);
    expect(response.headers['retry-after']).toBe('5');
    expect([await sessionsOf(app), app.sent('login_failed')]).toEqual([0, []]);
    expect(app.logs.join('\n')).toMatch(line);
    await expect(app.auth.openSession(await app.userId())).rejects.toMatchObject({ code: 'database_unavailable' });
    await noFailures(app);
  });
});

const QUEUE = { concurrent: 1, waiting: 1 };

describeOnEachDatabase('a slow login policy', { auth: { ...auth, hashing: QUEUE } }, ({ app }) => {
  it('a login that waits for the policy occupies no slot of the queue, no lock and no transaction', async () => {
    let answer: (decision: unknown) => void = () => undefined;
    policy.answer = () => {
      policy.answer = () => null;
      return new Promise((resolve) => (answer = resolve));
    };
    const slow = app.auth.login(CREDENTIALS, CLIENT);
    while (policy.asked.length === 0) await new Promise(setImmediate);
    await app.auth.login(CREDENTIALS, CLIENT);
    await app.auth.endSessions(await app.userId('bob'));
    answer(null);
    await slow;
    expect(await sessionsOf(app)).toBe(2);
  });

  it('a policy that does not answer in two seconds is unavailable', async () => {
    policy.answer = () => new Promise(() => undefined);
    const startedAt = performance.now();
    const { headers } = await app.http.post('/auth/login/').send(CREDENTIALS).expect(503, UNAVAILABLE);
    expect(performance.now() - startedAt).toBeGreaterThan(1_990);
    expect(performance.now() - startedAt).toBeLessThan(3_500);
    expect(headers['retry-after']).toBe('5');
  });
});

describeOnEachDatabase('the login policy', { auth }, ({ app, start }) => {
  it.each(Object.keys(WAYS))('a refused user gets no session by %s, however often it is tried', async (way) => {
    policy.answer = () => SUSPENDED;
    for (let i = 0; i < 3; i++) await expect(WAYS[way]!(app)).rejects.toMatchObject(REFUSED);
    const inParallel = await Promise.all(Array.from({ length: 4 }, () => okOrCode(WAYS[way]!(app))));
    expect(new Set(inParallel)).toEqual(new Set(['login_refused']));
    expect([await sessionsOf(app), app.sent('user_logged_in')]).toEqual([0, []]);
    expect([app.sent('login_failed'), await failures(app)]).toEqual([[], 0]);
    policy.answer = () => null;
    await expect(WAYS[way]!(app)).resolves.toHaveProperty('accessToken');
  });

  it('a refusal is recorded as login_blocked with its reason, and not emitted', async () => {
    policy.answer = () => SUSPENDED;
    for (let i = 0; i < 3; i++) await okOrCode(app.auth.login(CREDENTIALS, CLIENT));
    const blocked = await app.auth.history(await app.userId(), { event: ['login_blocked'] });
    expect(blocked).toMatchObject([{ extra: { reason: 'account_suspended' }, ...CLIENT }]);
    expect(app.sent('login_blocked')).toEqual([]);
  });

  it('a refusal deletes the failures of the password, which was right, and leaves a ticket, which opens a session once the policy accepts', async () => {
    for (let i = 0; i < 3; i++) await app.failLogin();
    expect(await failures(app)).toBeGreaterThan(0);
    const { ticket } = await app.auth.verifyCredentials(CREDENTIALS);
    await app.failLogin();
    policy.answer = () => SUSPENDED;
    expect(await okOrCode(app.auth.login(CREDENTIALS, { ipAddress: '127.0.0.1' }))).toBe('login_refused');
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject(REFUSED);
    expect(await failures(app)).toBe(0);
    policy.answer = () => null;
    await app.auth.openSession({ ticket });
    expect(await okOrCode(app.auth.openSession({ ticket }))).toBe('invalid_login_ticket');
  });

  it.each(Object.keys(WAYS))(
    'the sessions of a user that end while the policy decides also prevent a session by %s',
    async (way) => {
      const alice = await app.userId();
      policy.answer = async () => {
        policy.answer = () => SUSPENDED;
        await app.auth.endSessions(alice);
        return null;
      };
      const outcome = await okOrCode(WAYS[way]!(app));
      expect(['login_refused', 'invalid_login_ticket']).toContain(outcome);
      expect(await sessionsOf(app)).toBe(0);
    },
  );

  it('a user whom the application disables while the policy refuses gets the answer for wrong credentials', async () => {
    policy.answer = async () => {
      await app.setActive('alice', false);
      return SUSPENDED;
    };
    expect(await okOrCode(app.auth.login(CREDENTIALS))).toBe('invalid_credentials');
    await app.setActive('alice', true);
  });

  it('the policy receives the user, the client object, the methods and whether the login asked to be remembered', async () => {
    const remembering = await start({
      auth: { ...auth, rememberMe: { idleTimeoutSeconds: 3600, absoluteTimeoutSeconds: 7200 } },
    });
    const client = { ...CLIENT, deviceToken: 'trusted' };
    const user = { id: await app.userId(), username: 'alice' };
    await app.auth.login({ ...CREDENTIALS, rememberMe: true }, client);
    await remembering.auth.login({ ...CREDENTIALS, rememberMe: true }, client);
    await remembering.auth.openSession(user, client, { rememberMe: true });
    const { ticket } = await remembering.auth.verifyCredentials({ ...CREDENTIALS, rememberMe: true });
    await remembering.auth.attempt({ ticket, method: 'otp' }, client, () => true);
    await remembering.auth.openSession({ ticket }, client);
    const created = await remembering.auth.createLoginTicket(user, { methods: ['hwk'] });
    await remembering.auth.openSession({ ticket: created }, client);
    expect(policy.asked.map(({ login: { methods, rememberMe } }) => [methods, rememberMe])).toEqual([
      [['pwd'], false],
      [['pwd'], true],
      [[], true],
      [['pwd', 'otp'], true],
      [['hwk'], false],
    ]);
    for (const one of policy.asked) {
      expect(one).toMatchObject({ user, login: { realm: null } });
      expect(one.login.client).toBe(client);
    }
  });

  it('a session lives as long as the policy says, but never longer than the options', async () => {
    const opened = async (terms: object) => {
      policy.answer = () => terms;
      const { sessionId } = await app.auth.login(CREDENTIALS);
      const { createdAt, idleExpiresAt, absoluteExpiresAt, checkAt } = await app.storedSession(sessionId);
      return [idleExpiresAt, absoluteExpiresAt, checkAt].map((at) => at - createdAt);
    };
    expect(await opened({})).toEqual([7 * DAY, 30 * DAY, 7 * DAY]);
    expect(await opened({ idleTimeoutSeconds: 3600 })).toEqual([HOUR, 30 * DAY, HOUR]);
    expect(await opened({ absoluteTimeoutSeconds: 1 })).toEqual([7 * DAY, SECOND, SECOND]);
    const endless = Number.MAX_SAFE_INTEGER;
    const terms = { idleTimeoutSeconds: endless, absoluteTimeoutSeconds: endless };
    expect(await opened(terms)).toEqual([7 * DAY, 30 * DAY, 7 * DAY]);
  });

  it('a shorter idle timeout is kept by each refresh and each activity, and a shorter absolute one ends the session', async () => {
    policy.answer = () => ({ idleTimeoutSeconds: 3600, absoluteTimeoutSeconds: 7200 });
    let { refreshToken } = await app.auth.login(CREDENTIALS);
    app.clock.advance(HOUR - 1);
    ({ refreshToken } = await app.auth.refresh(refreshToken));
    app.clock.advance(HOUR - 1);
    const last = await app.auth.refresh(refreshToken);
    expect(last.refreshTokenExpiresAt.getTime()).toBe(app.clock.now() + 2);
    app.clock.advance(2);
    await app.refresh(last.refreshToken).expect(400);
    const idle = await app.auth.login(CREDENTIALS);
    app.clock.advance(HOUR);
    await app.refresh(idle.refreshToken).expect(400);
  });

  it('data of the ticket, of openSession and of the policy are merged in this order', async () => {
    const given = { methods: ['hwk'], data: { tenant: 'ticket', from: 'ticket', kept: 1 } as object };
    const ticket = await app.auth.createLoginTicket(await app.userId(), given);
    policy.answer = () => ({ data: { tenant: 'policy', removed: null } });
    const data = { tenant: 'openSession', from: 'openSession', removed: true } as object;
    const { accessToken } = await app.auth.openSession({ ticket }, {}, { data });
    expect((await app.principal(accessToken)).data).toEqual({ tenant: 'policy', from: 'openSession', kept: 1 });
  });
});
