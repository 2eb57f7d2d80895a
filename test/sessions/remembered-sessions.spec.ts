import type { AuthModuleOptions } from 'nestjs-session-auth';
import { Browser, cookiesIn } from '../support/browser';
import { DAY, HOUR, MINUTE } from '../support/driven-clock';
import { describeEverywhere, describeOnEachDatabase } from '../support/environment';
import { DrivenLoginPolicy } from '../support/login-policy';
import { PASSWORD, type TestApplication } from '../support/test-application';

const CREDENTIALS = { username: 'alice', password: PASSWORD };
const rememberMe = { idleTimeoutSeconds: 2_592_000, absoluteTimeoutSeconds: 7_776_000 };
const policy = new DrivenLoginPolicy();
const auth = { rememberMe, loginPolicy: policy, endpoints: { reauthenticate: true } };

beforeEach(() => policy.reset());

async function open(app: TestApplication, remember_me?: unknown) {
  const answer = await app.http.post('/auth/login/').send({ ...CREDENTIALS, remember_me });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body as { access_token: string; refresh_token: string; session_id: string };
}

async function refreshed(app: TestApplication, token: string): Promise<string> {
  return (await app.refresh(token).expect(200)).body.refresh_token as string;
}

const end = (app: TestApplication) => app.sent('user_logged_out').map(({ session, reason }) => [session.id, reason]);

describeOnEachDatabase('remembered sessions', { auth }, ({ app, start }) => {
  it.each<[string, unknown, number]>([
    ['without the field', undefined, 7],
    ['with remember_me: false', false, 7],
    ['with remember_me: true', true, 30],
  ])(
    'the session of a login %s expires after its own idle timeout, and each refresh keeps it',
    async (_, asked, days) => {
      const opened = await open(app, asked);
      let token = opened.refresh_token;
      for (let i = 0; i < 2; i++) {
        app.clock.advance(days * DAY - 1);
        token = await refreshed(app, token);
      }
      app.clock.advance(days * DAY);
      await app.refresh(token).expect(400);
      expect(end(app)).toEqual([[opened.session_id, 'expired']]);
    },
  );

  it('a remembered session ends at its own absolute timeout, to the millisecond', async () => {
    let { refresh_token: token } = await open(app, true);
    for (const days of [29, 29, 29]) {
      app.clock.advance(days * DAY);
      token = await refreshed(app, token);
    }
    app.clock.advance(3 * DAY - 1);
    const { body: last } = await app.refresh(token).expect(200);
    await app.get('/me', last.access_token).expect(200);
    app.clock.advance(1);
    await app.get('/me', last.access_token).expect(401);
    await app.refresh(last.refresh_token).expect(400);
  });

  it('wrong passwords within a remembered session are counted for as long as the session lasts', async () => {
    let { body: pair } = await app.http.post('/auth/login/').send({ ...CREDENTIALS, remember_me: true });
    const reauthenticate = (password: string) => app.post('/auth/reauthenticate', pair.access_token, { password });
    for (let i = 0; i < 9; i++) await reauthenticate('wrong').expect(400);
    for (let month = 0; month < 2; month++) {
      app.clock.advance(29 * DAY);
      ({ body: pair } = await app.refresh(pair.refresh_token).expect(200));
    }
    await reauthenticate('wrong').expect(400);
    await reauthenticate(PASSWORD).expect(429);
  });

  it('guarded requests extend a remembered session by its own idle timeout', async () => {
    const { session_id: id, access_token: token } = await open(app, true);
    app.clock.advance(2 * MINUTE);
    await app.get('/me', token).expect(200);
    while ((await app.storedSession(id)).lastActivity < app.clock.now()) await new Promise(setImmediate);
    expect((await app.storedSession(id)).idleExpiresAt).toBe(app.clock.now() + 30 * DAY);
  });

  it('a reauthentication, a password change and another instance keep the terms of a session', async () => {
    policy.answer = () => ({ idleTimeoutSeconds: 3600, persistent: false });
    const opened = await app.auth.login({ ...CREDENTIALS, rememberMe: true });
    const principal = (await app.auth.authenticate(opened.accessToken))!;
    const again = await app.auth.reauthenticate(principal, PASSWORD);
    const renewed = (await app.auth.authenticate(again.accessToken))!;
    const change = { currentPassword: PASSWORD, newPassword: PASSWORD };
    const changed = await app.auth.changePassword(renewed, change);
    const other = await start({ auth });
    const refreshedThere = await other.auth.refresh(changed.refreshToken);
    expect([opened, again, changed, refreshedThere].map(({ persistent }) => persistent)).toEqual(Array(4).fill(false));
    // The refresh tokens of a remembered session live as long as its idle timeout by the options.
    const ends = [opened, again, changed, refreshedThere].map((pair) => pair.refreshTokenExpiresAt.getTime());
    expect(ends).toEqual(Array(4).fill(app.clock.now() + 30 * DAY));
    other.clock.advance(HOUR);
    await other.refresh(refreshedThere.refreshToken).expect(400);
  });

  it.each<[string, AuthModuleOptions, number[]]>([
    ['of remembered sessions', { rememberMe: { ...rememberMe, idleTimeoutSeconds: 86_400 } }, [200, 400]],
    ['of all other sessions', { rememberMe, idleTimeoutSeconds: 86_400 }, [400, 200]],
    ['of all sessions without rememberMe', { idleTimeoutSeconds: 86_400 }, [400, 400]],
  ])('a lowered timeout %s applies at once', async (_, lowered, statuses) => {
    const opened = [await open(app, false), await open(app, true)];
    app.clock.advance(DAY);
    const other = await start({ auth: lowered });
    const found: number[] = [];
    for (const { refresh_token: token } of opened) found.push((await other.refresh(token)).status);
    expect(found).toEqual(statuses);
  });

  it('pruning ends each session when its own timeout has passed, and no earlier', async () => {
    const [ordinary, remembered] = [await open(app, false), await open(app, true)];
    const states = async () =>
      Promise.all([ordinary, remembered].map(async ({ session_id: id }) => (await app.storedEnd(id)).state));
    app.clock.advance(7 * DAY);
    await app.pruning.prune();
    expect(await states()).toEqual(['expired', 'active']);
    app.clock.advance(23 * DAY);
    await app.pruning.prune();
    expect(await states()).toEqual(['expired', 'expired']);
  });
});

describeOnEachDatabase(
  'a session limit beside remembered sessions',
  {
    auth: { rememberMe, sessionPolicy: 'max_count', maxSessions: 2, onSessionLimit: 'reject' },
  },
  ({ app }) => {
    it('the session limit counts a remembered session until it expires, longer than an ordinary one', async () => {
      const codes: unknown[] = [];
      const login = async (): Promise<void> =>
        void codes.push((await app.http.post('/auth/login/').send(CREDENTIALS)).status);
      await open(app, true);
      await login();
      await login();
      app.clock.advance(7 * DAY);
      await login();
      await login();
      expect(codes).toEqual([200, 403, 200, 403]);
    });
  },
);

const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Lax';
const SESSION = [`access; ${ATTRIBUTES}`, `refresh; ${ATTRIBUTES}`];
const persistent = (refreshSeconds: number): string[] => [
  `access; Max-Age=900; ${ATTRIBUTES}`,
  `refresh; Max-Age=${refreshSeconds}; ${ATTRIBUTES}`,
];

describeEverywhere(
  'cookies with rememberMe',
  {
    auth: { ...auth, cookies: { mode: 'optional' }, refreshReuseGraceSeconds: 10 },
  },
  ({ app, start }) => {
    const attributesOf = (response: Parameters<typeof cookiesIn>[0]): string[] =>
      cookiesIn(response).map((cookie) => cookie.replace(/^__Host-auth_(\w+)=[^;]+/, '$1'));

    it.each<[string, unknown, object, string[]]>([
      ['that asks for nothing', undefined, {}, SESSION],
      ['with remember_me: true', true, {}, persistent(2_592_000)],
      ['that the login policy makes persistent', false, { persistent: true }, persistent(604_800)],
      ['with remember_me: true that the login policy makes not persistent', true, { persistent: false }, SESSION],
    ])(
      'the cookies of a login %s last as decided, in each refresh, replay and reissue',
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
      const body = { remember_me: [message] };
      await app.http
        .post('/auth/login/')
        .send({ ...CREDENTIALS, remember_me })
        .expect(400, body);
      const login = app.auth.login({ ...CREDENTIALS, rememberMe: remember_me as never });
      await expect(login).rejects.toMatchObject({ code: 'invalid_field', fields: body });
    });
  },
);
