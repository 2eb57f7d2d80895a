import { randomBytes, randomUUID } from 'node:crypto';
import { AuthEvent, AuthSession, AuthUser, type OpenedSession, type TokenPair } from 'nestjs-session-auth';
import {
  FAMILY_SECRET_BYTES,
  formatRefreshToken,
  parseRefreshToken,
  REFRESH_SECRET_BYTES,
} from '../../libs/auth/src/tokens/tokens';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { refreshWithCookies } from '../support/cookie-refresh';
import { MINUTE, SECOND } from '../support/driven-clock';
import { TestApplication, PASSWORD, type TestApplicationOptions } from '../support/test-application';
import { storedEnd, describeOnEachDatabase, type TestEnvironment } from '../support/environment';

const HOME = { ipAddress: '198.51.100.7' };
const ELSEWHERE = { ipAddress: '203.0.113.9' };
const REFUSED = { code: 'invalid_refresh_token' };

const cookiesWith = (auth: TestApplicationOptions['auth'] = {}): Omit<TestApplicationOptions, 'database'> => ({
  auth: { cookies: { mode: 'optional' }, ...auth },
});

function open({ app }: TestEnvironment): Promise<OpenedSession> {
  return app.auth.login({ username: 'alice', password: PASSWORD }, HOME);
}

/** Refreshes as a browser does. `pair` has no access token if the access cookie has expired. */
function refresh(env: TestEnvironment, pair: Partial<TokenPair>, client = HOME): Promise<TokenPair> {
  const { refreshToken, accessToken = null } = pair;
  return refreshWithCookies(env.app, { refreshToken: refreshToken!, accessToken }, client);
}

async function storedSession({ app }: TestEnvironment): Promise<AuthSession> {
  return app.dataSource.getRepository(AuthSession).findOneByOrFail({});
}

async function eventsIn({ app }: TestEnvironment): Promise<string[]> {
  const rows = await app.dataSource.getRepository(AuthEvent).find({ order: { id: 'ASC' } });
  return rows.map(({ event, extra }) => (extra['replayed'] ? `${event}, replayed` : event));
}

describeOnEachDatabase('refreshes over cookies', cookiesWith(), (env) => {
  it('a refresh over cookies is replayed for ten seconds, while a repeated bearer refresh is reuse', async () => {
    const { app } = env;
    const first = await open(env);
    const second = await refresh(env, { refreshToken: first.refreshToken });
    app.clock.advance(10 * SECOND - 1);
    expect(await refresh(env, { refreshToken: first.refreshToken })).toEqual(second);
    app.clock.advance(1);
    await expect(refresh(env, { refreshToken: first.refreshToken })).rejects.toMatchObject(REFUSED);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);

    const bearer = await open(env);
    await app.auth.refresh(bearer.refreshToken, HOME);
    await expect(app.auth.refresh(bearer.refreshToken, HOME)).rejects.toMatchObject(REFUSED);
    expect(app.sent('token_reuse_detected')).toHaveLength(2);
  });

  it('a refresh with the pair that another refresh has just issued returns the same pair and writes nothing', async () => {
    const { app } = env;
    const second = await refresh(env, await open(env));
    const [row, events] = [await storedSession(env), await eventsIn(env)];
    const tabs = await Promise.all(Array.from({ length: 5 }, () => refresh(env, second)));
    app.clock.advance(10 * SECOND - 1);
    for (const pair of [...tabs, await refresh(env, second, ELSEWHERE)]) expect(pair).toEqual(second);
    expect([await storedSession(env), await eventsIn(env)]).toEqual([row, events]);
    app.clock.advance(1);
    const third = await refresh(env, second);
    expect(third.refreshToken).not.toBe(second.refreshToken);
    expect(await eventsIn(env)).toEqual([...events, 'token_refresh']);
  });

  it('a refresh with the current refresh token and a different access token rotates the pair', async () => {
    const first = await open(env);
    // The pairs of a login and of a bearer client are rotated too.
    const byCookie = await refresh(env, first);
    const byBearer = await env.app.auth.refresh(byCookie.refreshToken, HOME);
    const second = await refresh(env, byBearer);
    expect(new Set([first, byCookie, byBearer, second].map(({ refreshToken }) => refreshToken)).size).toBe(4);
    const another = await open(env);
    const rows = env.app.dataSource.getRepository(AuthSession);
    const stored = await rows.findOneByOrFail({ id: first.sessionId });
    for (const accessToken of [first.accessToken, another.accessToken, 'x', undefined]) {
      const third = await refresh(env, { refreshToken: second.refreshToken, ...(accessToken && { accessToken }) });
      expect(third.refreshToken).not.toBe(second.refreshToken);
      // Restore the pair for the next access token.
      await rows.save(stored);
    }
    expect(env.app.sent('token_reuse_detected')).toEqual([]);
  });

  it('a refresh with the current pair ends the sessions of a disabled user, and is refused for an ended session', async () => {
    const second = await refresh(env, await open(env));
    const users = env.app.dataSource.getRepository(AuthUser);
    await users.update({ username: 'alice' }, { active: false });
    await expect(refresh(env, second)).rejects.toMatchObject(REFUSED);
    await users.update({ username: 'alice' }, { active: true });
    expect(await storedSession(env)).toMatchObject({ state: 'revoked', endReason: 'user_disabled' });
    await expect(refresh(env, second)).rejects.toMatchObject(REFUSED);
  });
});

const LONGER = cookiesWith({ refreshReuseGraceSeconds: 20 });

describeOnEachDatabase('refreshes over cookies with a configured grace period', LONGER, (env) => {
  it('a refresh over either transport can be repeated for 20 s', async () => {
    const overBearer = ({ refreshToken }: Partial<TokenPair>) => env.app.auth.refresh(refreshToken!, HOME);
    for (const again of [(pair: Partial<TokenPair>) => refresh(env, pair), overBearer]) {
      const { refreshToken } = await open(env);
      const pair = await again({ refreshToken });
      env.app.clock.advance(20 * SECOND - 1);
      expect(await again({ refreshToken })).toEqual(pair);
      env.app.clock.advance(1);
      await expect(again({ refreshToken })).rejects.toMatchObject(REFUSED);
    }
  });

  it('a refresh over cookies is not replayed to bearer clients, and a bearer refresh is not replayed over cookies', async () => {
    const bearer = await open(env);
    await env.app.auth.refresh(bearer.refreshToken, HOME);
    await expect(refresh(env, { refreshToken: bearer.refreshToken })).rejects.toMatchObject(REFUSED);
    const cookie = await open(env);
    await refresh(env, cookie);
    await expect(env.app.auth.refresh(cookie.refreshToken, HOME)).rejects.toMatchObject(REFUSED);
    expect(await storedEnd(env.app, cookie.sessionId)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
    expect(env.app.sent('token_reuse_detected')).toHaveLength(2);
  });
});

const WITHOUT_GRACE = cookiesWith({ refreshReuseGraceSeconds: 0 });

describeOnEachDatabase('refreshes over cookies without a grace period', WITHOUT_GRACE, (env) => {
  it('a refresh rotates the current pair immediately, and presenting the previous token is reuse', async () => {
    const second = await refresh(env, await open(env));
    expect((await storedSession(env)).replaySeed).toBeNull();
    const third = await refresh(env, second);
    expect(third.refreshToken).not.toBe(second.refreshToken);
    await expect(refresh(env, second)).rejects.toMatchObject(REFUSED);
    expect(env.app.sent('token_reuse_detected')).toHaveLength(1);
  });
});

const WITHOUT_ROTATION = cookiesWith({ rotateRefreshTokens: false });

describeOnEachDatabase('refreshes over cookies without rotation', WITHOUT_ROTATION, (env) => {
  it('a refresh keeps the refresh token and issues a new access token', async () => {
    const first = await open(env);
    const second = await refresh(env, first);
    const third = await refresh(env, second);
    expect([second.refreshToken, third.refreshToken]).toEqual([first.refreshToken, first.refreshToken]);
    expect(new Set([first, second, third].map(({ accessToken }) => accessToken)).size).toBe(3);
  });
});

/** Timeouts in seconds. The session ends 1,000 s after the login. */
const TIMES = { accessTokenTtlSeconds: 300, refreshTokenTtlSeconds: 600, absoluteTimeoutSeconds: 1_000 };

describe.each([true, false])('with rotateRefreshTokens: %s', (rotateRefreshTokens) => {
  const options = cookiesWith({ ...TIMES, rotateRefreshTokens });

  describeOnEachDatabase('the reported expiries', options, (env) => {
    let start: number;
    beforeEach(() => void (start = env.app.clock.now()));

    /** When the tokens expire, in seconds since the login. */
    const expiries = ({ accessTokenExpiresAt, refreshTokenExpiresAt }: TokenPair): number[] =>
      [accessTokenExpiresAt, refreshTokenExpiresAt].map((instant) => (instant.getTime() - start) / SECOND);

    it('a login and each refresh report the expiries of the tokens, which are never later than the end of the session', async () => {
      const { app } = env;
      const opened = await open(env);
      expect(expiries(opened)).toEqual([300, 600]);
      app.clock.advance(350 * SECOND);
      const byBearer = await app.auth.refresh(opened.refreshToken, HOME);
      expect(expiries(byBearer)).toEqual([650, 950]);
      app.clock.advance(100 * SECOND);
      const byCookie = await refresh(env, byBearer);
      expect(expiries(byCookie)).toEqual([750, 1_000]);
      app.clock.advance(400 * SECOND);
      const capped = await app.auth.refresh(byCookie.refreshToken, HOME);
      expect(expiries(capped)).toEqual([1_000, 1_000]);
      app.clock.advance(150 * SECOND - 1);
      expect(await app.auth.authenticate(capped.accessToken)).not.toBeNull();
      app.clock.advance(1);
      expect(await app.auth.authenticate(capped.accessToken)).toBeNull();
    });

    it('a reauthentication and a password change report the expiries of the new pair', async () => {
      const { app } = env;
      let pair: TokenPair = await open(env);
      for (const [by, expected] of [
        ['reauthenticate', [550, 850]],
        ['change', [800, 1_000]],
        ['reauthenticate', [1_000, 1_000]],
      ] as const) {
        app.clock.advance(250 * SECOND);
        pair = await renewed(app, pair, by);
        expect([by, expiries(pair)]).toEqual([by, expected]);
      }
    });
  });
});

async function renewed(app: TestApplication, { accessToken }: TokenPair, by: 'reauthenticate' | 'change') {
  const principal = (await app.auth.authenticate(accessToken))!;
  // The activity, without which the session would expire, is not written while another transaction locks the session.
  await app.nest.get(Activity).flush();
  if (by === 'reauthenticate') return app.auth.reauthenticate(principal, PASSWORD, HOME);
  return app.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: PASSWORD }, HOME);
}

describeOnEachDatabase('logouts by refresh cookies', cookiesWith(), (env) => {
  const authenticate = (...tokens: string[]) => env.app.authentication.byRefreshTokens(tokens, HOME);

  /** Returns the refresh token that the same family could have issued with the given generation. */
  const ofGeneration = (token: string, generation: number): string =>
    formatRefreshToken({ ...parseRefreshToken(token)!, generation }, randomBytes(REFRESH_SECRET_BYTES));

  const forged = (sessionId: string = randomUUID()): string =>
    formatRefreshToken(
      { sessionId, familySecret: randomBytes(FAMILY_SECRET_BYTES), generation: 7 },
      randomBytes(REFRESH_SECRET_BYTES),
    );

  it('a logout accepts a refresh token of any generation, and authenticating by the token changes and reports nothing', async () => {
    const { app } = env;
    const first = await open(env);
    let live: TokenPair = first;
    for (let i = 0; i < 3; i++) {
      live = await refresh(env, { refreshToken: live.refreshToken });
      app.clock.advance(MINUTE);
    }
    const [row, events] = [await storedSession(env), await eventsIn(env)];
    app.signals.length = 0;
    for (const token of [first.refreshToken, live.refreshToken, ofGeneration(live.refreshToken, 900)]) {
      expect(await authenticate(token)).toMatchObject({
        userId: row.userId,
        sessionId: first.sessionId,
        authenticatedAt: new Date(row.authenticatedAt),
      });
    }
    expect([await storedSession(env), await eventsIn(env), app.signals]).toEqual([row, events, []]);
  });

  it('a logout uses the first of at most ten refresh cookies that belongs to an active session', async () => {
    const { refreshToken, sessionId } = await open(env);
    const { refreshToken: later } = await open(env);
    expect(await authenticate('', 'x', refreshToken.slice(0, -1), forged(), refreshToken, later)).toMatchObject({
      sessionId,
    });
    const planted = Array.from({ length: 9 }, () => forged());
    expect(await authenticate(...planted, refreshToken)).not.toBeNull();
    expect(await authenticate(...planted, forged(), refreshToken)).toBeNull();
    // Repeated and malformed cookies are not looked up.
    expect(
      await authenticate(...Array<string>(20).fill(forged()), ...Array<string>(20).fill('x'), refreshToken),
    ).not.toBe(null);
  });

  it('a logout refuses a refresh token of an earlier family', async () => {
    const first = await open(env);
    await renewed(env.app, first, 'change');
    expect(await authenticate(first.refreshToken)).toBeNull();
  });

  it('a logout by refresh cookies refuses an expired session, and ends the sessions of a disabled user', async () => {
    const { app } = env;
    const expired = await open(env);
    app.clock.advance(8 * 24 * 60 * MINUTE);
    expect(await env.app.authentication.namesActiveSession([expired.refreshToken])).toBe(false);
    const other = await open(env);
    expect(await authenticate(expired.refreshToken)).toBeNull();
    const users = app.dataSource.getRepository(AuthUser);
    await users.update({ username: 'alice' }, { active: false });
    expect(await authenticate(other.refreshToken)).toBeNull();
    await users.update({ username: 'alice' }, { active: true });
    expect(await storedEnd(app, other.sessionId)).toEqual({ state: 'revoked', end_reason: 'user_disabled' });
  });

  it('a well-formed refresh token names a session if the session with the id in the token is active', async () => {
    const { app } = env;
    const first = await open(env);
    const names = (token: string) => env.app.authentication.namesActiveSession([token]);
    expect([await names(first.refreshToken), await names(forged(first.sessionId))]).toEqual([true, true]);
    expect([await names(forged()), await names(''), await names(first.accessToken)]).toEqual([false, false, false]);
    await app.auth.logout((await app.auth.authenticate(first.accessToken))!, HOME);
    expect(await names(first.refreshToken)).toBe(false);
  });
});
