import type { AuthModuleOptions } from 'nestjs-session-auth';
import { Browser, cookiesIn } from '../support/browser';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { describeEverywhere, describeOnEachDatabase } from '../support/environment';
import { DrivenLoginPolicy } from '../support/login-policy';
import { CREDENTIALS, type LoginAnswer, type Pair, PASSWORD, type TestApplication } from '../support/test-application';

const rememberMe = { idleTimeoutSeconds: 2_592_000, absoluteTimeoutSeconds: 7_776_000 };
const policy = new DrivenLoginPolicy();
const auth = { rememberMe, loginPolicy: policy, endpoints: { reauthenticate: true } };

beforeEach(() => policy.reset());

const attempt = (app: TestApplication, remember_me?: unknown) =>
  app.http.post('/auth/login/').send({ ...CREDENTIALS, remember_me });

const open = async (app: TestApplication, remember_me?: unknown): Promise<LoginAnswer> =>
  (await attempt(app, remember_me).expect(200)).body as LoginAnswer;

describeOnEachDatabase('remembered sessions', { auth }, ({ app, start }) => {
  it.each([
    [undefined, 7],
    [false, 7],
    [true, 30],
  ])('the session of a login with remember_me: %s expires %i days after the last refresh', async (asked, days) => {
    const opened = await open(app, asked);
    let pair: Pair = opened;
    for (let i = 0; i < 2; i++) {
      app.clock.advance(days * DAY - 1);
      pair = await app.refreshed(pair);
    }
    app.clock.advance(days * DAY);
    await app.refresh(pair.refresh_token).expect(400);
    expect(app.emittedEnds()).toEqual([[opened.session_id, 'expired']]);
  });

  it('a remembered session ends at its own absolute timeout, to the millisecond', async () => {
    let pair: Pair = await open(app, true);
    for (const wait of [29 * DAY, 29 * DAY, 29 * DAY, 3 * DAY - 1]) {
      app.clock.advance(wait);
      pair = await app.refreshed(pair);
    }
    await app.expectLive(pair);
    app.clock.advance(1);
    await app.expectRevoked(pair);
  });

  it('wrong passwords within a remembered session are counted for as long as the session lasts', async () => {
    let pair: Pair = await open(app, true);
    const reauthenticate = (password: string) => app.post('/auth/reauthenticate', pair.access_token, { password });
    for (let i = 0; i < 9; i++) await reauthenticate('wrong').expect(400);
    for (let month = 0; month < 2; month++) {
      app.clock.advance(29 * DAY);
      pair = await app.refreshed(pair);
    }
    await reauthenticate('wrong').expect(400);
    await reauthenticate(PASSWORD).expect(429);
  });

  it('guarded requests extend a remembered session by its own idle timeout', async () => {
    const session = await open(app, true);
    const stored = () => app.storedSession(session.session_id);
    app.clock.advance(2 * MINUTE);
    await app.expectLive(session);
    while ((await stored()).lastActivity < app.clock.now()) await new Promise(setImmediate);
    expect((await stored()).idleExpiresAt).toBe(app.clock.now() + 30 * DAY);
  });

  it('a reauthentication, a password change and another instance keep the terms of a session', async () => {
    policy.answer = () => ({ idleTimeoutSeconds: 3600, persistent: false });
    const opened = await app.auth.login({ ...CREDENTIALS, rememberMe: true });
    const again = await app.auth.reauthenticate(await app.principal(opened.accessToken), PASSWORD);
    const change = { currentPassword: PASSWORD, newPassword: PASSWORD };
    const changed = await app.auth.changePassword(await app.principal(again.accessToken), change);
    const other = await start({ auth });
    const refreshed = await other.auth.refresh(changed.refreshToken);
    // The refresh tokens of a remembered session live as long as its idle timeout by the options.
    const refreshTokenExpiresAt = new Date(app.clock.now() + 30 * DAY);
    const terms = { persistent: false, refreshTokenExpiresAt };
    expect([opened, again, changed, refreshed]).toMatchObject([terms, terms, terms, terms]);
    other.clock.advance(HOUR);
    await other.refresh(refreshed.refreshToken).expect(400);
  });

  it.each<[string, AuthModuleOptions, number[]]>([
    ['of remembered sessions', { rememberMe: { ...rememberMe, idleTimeoutSeconds: 86_400 } }, [200, 400]],
    ['of all other sessions', { rememberMe, idleTimeoutSeconds: 86_400 }, [400, 200]],
    ['of all sessions without rememberMe', { idleTimeoutSeconds: 86_400 }, [400, 400]],
  ])('a lowered timeout %s applies at once', async (_, lowered, statuses) => {
    const opened = [await open(app, false), await open(app, true)];
    app.clock.advance(DAY);
    const other = await start({ auth: lowered });
    for (const [index, status] of statuses.entries()) await other.refresh(opened[index]!.refresh_token).expect(status);
  });

  it('pruning ends each session when its own timeout has passed, and no earlier', async () => {
    const opened = [await open(app, false), await open(app, true)];
    for (const [days, states] of [
      [7, ['expired', 'active']],
      [23, ['expired', 'expired']],
    ] as const) {
      app.clock.advance(days * DAY);
      await app.pruning.prune();
      const stored = await Promise.all(opened.map(({ session_id: id }) => app.storedEnd(id)));
      expect(stored.map(({ state }) => state)).toEqual(states);
    }
  });
});

const LIMITED = { auth: { rememberMe, sessionPolicy: 'max_count', maxSessions: 2, onSessionLimit: 'reject' } } as const;

describeOnEachDatabase('a session limit beside remembered sessions', LIMITED, ({ app }) => {
  it('the session limit counts a remembered session until it expires, longer than an ordinary one', async () => {
    await attempt(app, true).expect(200);
    for (const wait of [0, 7 * DAY]) {
      app.clock.advance(wait);
      await attempt(app).expect(200);
      await attempt(app).expect(403);
    }
  });
});

const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Lax';
const SESSION = [`access; ${ATTRIBUTES}`, `refresh; ${ATTRIBUTES}`];
const persistent = (refreshSeconds: number): string[] => [
  `access; Max-Age=900; ${ATTRIBUTES}`,
  `refresh; Max-Age=${refreshSeconds}; ${ATTRIBUTES}`,
];
const COOKIES = { auth: { ...auth, cookies: { mode: 'optional' }, refreshReuseGraceSeconds: 10 } } as const;

describeEverywhere('cookies with rememberMe', COOKIES, ({ app, start }) => {
  const attributesOf = (response: Parameters<typeof cookiesIn>[0]): string[] =>
    cookiesIn(response).map((cookie) => cookie.replace(/^__Host-auth_(\w+)=[^;]+/, '$1'));

  it.each<[string, unknown, object, string[]]>([
    ['that asks for nothing', undefined, {}, SESSION],
    ['with remember_me: true', true, {}, persistent(2_592_000)],
    ['that the login policy makes persistent', false, { persistent: true }, persistent(604_800)],
    ['with remember_me: true that the login policy makes not persistent', true, { persistent: false }, SESSION],
  ])(
    'the cookies of a login %s last as decided, also when they are replaced',
    async (_, remember_me, terms, expected) => {
      policy.answer = () => terms;
      const browser = new Browser(app);
      const responses = [await browser.call('/auth/login/', { ...CREDENTIALS, remember_me })];
      app.clock.advance(MINUTE);
      const { '__Host-auth_refresh': presented } = browser.jar;
      responses.push(await browser.call('/auth/token/refresh/'));
      // The browser has lost the response.
      browser.put('__Host-auth_access', null);
      browser.put('__Host-auth_refresh', presented!);
      responses.push(await browser.call('/auth/token/refresh/'));
      // Another tab refreshes with the cookies of the last refresh.
      responses.push(await browser.call('/auth/token/refresh/'));
      responses.push(await browser.call('/auth/reauthenticate/', { password: PASSWORD }));
      expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(200));
      for (const response of responses) expect(attributesOf(response)).toEqual(expected);
    },
  );

  it('without the option, cookies persist, and the field is ignored whatever its value is', async () => {
    const other = await start({ auth: { cookies: { mode: 'optional' } } });
    for (const remember_me of [undefined, true, 'yes', null]) {
      const response = await new Browser(other).call('/auth/login/', { ...CREDENTIALS, remember_me });
      expect([response.status, attributesOf(response)]).toEqual([200, persistent(604_800)]);
    }
  });

  it.each([
    ['yes', 'Must be a valid boolean.'],
    [1, 'Must be a valid boolean.'],
    [{}, 'Must be a valid boolean.'],
    [null, 'This field may not be null.'],
  ])('remember_me: %j is a field error', async (remember_me, message) => {
    const fields = { remember_me: [message] };
    await attempt(app, remember_me).expect(400, fields);
    const login = app.auth.login({ ...CREDENTIALS, rememberMe: remember_me as never });
    await expect(login).rejects.toMatchObject({ code: 'invalid_field', fields });
  });
});
