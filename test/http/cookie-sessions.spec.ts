import { randomBytes, randomUUID } from 'node:crypto';
import { AuthEvent, AuthSession, type TokenPair } from 'nestjs-session-auth';
import {
  FAMILY_SECRET_BYTES,
  formatRefreshToken,
  parseRefreshToken,
  REFRESH_SECRET_BYTES,
} from '../../libs/auth/src/tokens/tokens';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { refreshWithCookies } from '../support/cookie-refresh';
import { DAY, MINUTE, SECOND } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';
import { CREDENTIALS, PASSWORD, type TestApplication, type TestApplicationOptions } from '../support/test-application';

const HOME = { ipAddress: '198.51.100.7' };
const ELSEWHERE = { ipAddress: '203.0.113.9' };
const REFUSED = { code: 'invalid_refresh_token' };

/** Runs tests on each database with cookies, and with functions that log in and refresh as a browser at home does. */
function describeWithCookies(
  title: string,
  auth: TestApplicationOptions['auth'],
  defineTests: (app: TestApplication, actions: ReturnType<typeof actionsOf>) => void,
): void {
  const options = { auth: { cookies: { mode: 'optional' as const }, ...auth } };
  describeOnEachDatabase(title, options, ({ app }) => defineTests(app, actionsOf(app)));
}

const actionsOf = (app: TestApplication) => ({
  open: () => app.auth.login(CREDENTIALS, HOME),
  /** `pair` has no access token if the access cookie has expired. */
  refresh: ({ refreshToken, accessToken = null as string | null }: Presented, client = HOME) =>
    refreshWithCookies(app, { refreshToken, accessToken }, client),
  byBearer: ({ refreshToken }: Presented) => app.auth.refresh(refreshToken, HOME),
  stored: () => app.dataSource.getRepository(AuthSession).findOneByOrFail({}),
  recorded: async () => {
    const rows = await app.dataSource.getRepository(AuthEvent).find({ order: { id: 'ASC' } });
    return rows.map(({ event, extra }) => (extra['replayed'] ? `${event}, replayed` : event));
  },
});
type Presented = Pick<TokenPair, 'refreshToken'> & { readonly accessToken?: string | null };

const refreshOnly = ({ refreshToken }: TokenPair): Presented => ({ refreshToken });

describeWithCookies('refreshes over cookies', {}, (app, { open, refresh, byBearer, stored, recorded }) => {
  it('a refresh over cookies is replayed for ten seconds, while a repeated bearer refresh is reuse', async () => {
    const first = refreshOnly(await open());
    const second = await refresh(first);
    app.clock.advance(10 * SECOND - 1);
    expect(await refresh(first)).toEqual(second);
    app.clock.advance(1);
    await expect(refresh(first)).rejects.toMatchObject(REFUSED);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
    const bearer = await open();
    await byBearer(bearer);
    await expect(byBearer(bearer)).rejects.toMatchObject(REFUSED);
    expect(app.sent('token_reuse_detected')).toHaveLength(2);
  });

  it('a refresh with the pair that another refresh has just issued returns the same pair and writes nothing', async () => {
    const second = await refresh(await open());
    const [row, events] = [await stored(), await recorded()];
    const tabs = await Promise.all(Array.from({ length: 5 }, () => refresh(second)));
    app.clock.advance(10 * SECOND - 1);
    for (const pair of [...tabs, await refresh(second, ELSEWHERE)]) expect(pair).toEqual(second);
    expect([await stored(), await recorded()]).toEqual([row, events]);
    app.clock.advance(1);
    expect((await refresh(second)).refreshToken).not.toBe(second.refreshToken);
    expect(await recorded()).toEqual([...events, 'token_refresh']);
  });

  it('a refresh with the current refresh token and a different access token rotates the pair', async () => {
    const first = await open();
    // The pairs of a login and of a bearer client are rotated too.
    const byCookie = await refresh(first);
    const ofBearer = await byBearer(byCookie);
    const second = await refresh(ofBearer);
    expect(new Set([first, byCookie, ofBearer, second].map(({ refreshToken }) => refreshToken)).size).toBe(4);
    const another = await open();
    const before = await app.storedSession(first.sessionId);
    for (const accessToken of [first.accessToken, another.accessToken, 'x', null]) {
      const third = await refresh({ refreshToken: second.refreshToken, accessToken });
      expect(third.refreshToken).not.toBe(second.refreshToken);
      // Restore the pair for the next access token.
      await app.dataSource.getRepository(AuthSession).save(before);
    }
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it('a refresh with the current pair ends the sessions of a disabled user, and is refused for an ended session', async () => {
    const second = await refresh(await open());
    for (const isActive of [false, true]) {
      await app.setActive('alice', isActive);
      await expect(refresh(second)).rejects.toMatchObject(REFUSED);
    }
    expect(await stored()).toMatchObject({ state: 'revoked', endReason: 'user_disabled' });
  });
});

const LONGER = { refreshReuseGraceSeconds: 20 };

describeWithCookies('refreshes with a grace period of 20 seconds', LONGER, (app, { open, refresh, byBearer }) => {
  it('a refresh over cookies is not replayed to bearer clients, and a bearer refresh is not replayed over cookies', async () => {
    for (const [once, again] of [
      [byBearer, refresh],
      [refresh, byBearer],
    ] as const) {
      const pair = await open();
      await once(pair);
      await expect(again(refreshOnly(pair))).rejects.toMatchObject(REFUSED);
      expect(await app.storedEnd(pair.sessionId)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
    }
    expect(app.sent('token_reuse_detected')).toHaveLength(2);
  });
});

const WITHOUT_GRACE = { refreshReuseGraceSeconds: 0 };

describeWithCookies('refreshes without a grace period', WITHOUT_GRACE, (app, { open, refresh, stored }) => {
  it('a refresh rotates the current pair immediately, and presenting the previous token is reuse', async () => {
    const second = await refresh(await open());
    expect((await stored()).replaySeed).toBeNull();
    expect((await refresh(second)).refreshToken).not.toBe(second.refreshToken);
    await expect(refresh(second)).rejects.toMatchObject(REFUSED);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
  });
});

/** Timeouts in seconds. The session ends 1,000 s after the login. */
const TIMES = { accessTokenTtlSeconds: 300, refreshTokenTtlSeconds: 600, absoluteTimeoutSeconds: 1_000 };

for (const rotateRefreshTokens of [true, false]) {
  const title = `the reported expiries with rotateRefreshTokens: ${rotateRefreshTokens}`;
  describeWithCookies(title, { ...TIMES, rotateRefreshTokens }, (app, { open, refresh, byBearer }) => {
    it('each new pair is returned with the expiries of its tokens, which are never later than the end of the session', async () => {
      const start = app.clock.now();
      const expiries = ({ accessTokenExpiresAt, refreshTokenExpiresAt }: TokenPair): number[] =>
        [accessTokenExpiresAt, refreshTokenExpiresAt].map((instant) => (instant.getTime() - start) / SECOND);
      let pair: TokenPair = await open();
      expect(expiries(pair)).toEqual([300, 600]);
      for (const [seconds, issue, expected] of [
        [200, byBearer, [500, 800]],
        [100, refresh, [600, 900]],
        [250, () => renewed(app, pair, 'reauthenticate'), [850, 1_000]],
        [200, () => renewed(app, pair, 'change'), [1_000, 1_000]],
        [100, byBearer, [1_000, 1_000]],
      ] as const) {
        app.clock.advance(seconds * SECOND);
        pair = await issue(pair);
        expect([seconds, expiries(pair)]).toEqual([seconds, expected]);
      }
      app.clock.advance(150 * SECOND - 1);
      expect(await app.auth.authenticate(pair.accessToken)).not.toBeNull();
      app.clock.advance(1);
      expect(await app.auth.authenticate(pair.accessToken)).toBeNull();
    });
  });
}

async function renewed(app: TestApplication, { accessToken }: TokenPair, by: 'reauthenticate' | 'change') {
  const principal = await app.principal(accessToken);
  // The activity, without which the session would expire, is not written while another transaction locks the session.
  await app.nest.get(Activity).flush();
  if (by === 'reauthenticate') return app.auth.reauthenticate(principal, PASSWORD, HOME);
  return app.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: PASSWORD }, HOME);
}

describeWithCookies('logouts by refresh cookies', {}, (app, { open, refresh, stored, recorded }) => {
  const authenticate = (...tokens: string[]) => app.authentication.byRefreshTokens(tokens, HOME);

  /** Returns the refresh token that the same family could have issued with the given generation. */
  const ofGeneration = (token: string, generation: number): string =>
    formatRefreshToken({ ...parseRefreshToken(token)!, generation }, randomBytes(REFRESH_SECRET_BYTES));

  const forged = (sessionId: string = randomUUID()): string => {
    const claims = { sessionId, familySecret: randomBytes(FAMILY_SECRET_BYTES), generation: 7 };
    return formatRefreshToken(claims, randomBytes(REFRESH_SECRET_BYTES));
  };

  it('a logout accepts a refresh token of any generation, and authenticating by the token changes and reports nothing', async () => {
    const first = await open();
    let live: TokenPair = first;
    for (let i = 0; i < 3; i++) {
      live = await refresh(refreshOnly(live));
      app.clock.advance(MINUTE);
    }
    const [row, events] = [await stored(), await recorded()];
    app.signals.length = 0;
    const { userId, id: sessionId } = row;
    for (const token of [first.refreshToken, live.refreshToken, ofGeneration(live.refreshToken, 900)]) {
      const principal = { userId, sessionId, authenticatedAt: new Date(row.authenticatedAt) };
      expect(await authenticate(token)).toMatchObject(principal);
    }
    expect([await stored(), await recorded(), app.signals]).toEqual([row, events, []]);
  });

  it('a logout uses the first of at most ten refresh cookies that belongs to an active session', async () => {
    const { refreshToken, sessionId } = await open();
    const { refreshToken: later } = await open();
    const several = ['', 'x', refreshToken.slice(0, -1), forged(), refreshToken, later];
    expect(await authenticate(...several)).toMatchObject({ sessionId });
    const planted = Array.from({ length: 9 }, () => forged());
    expect(await authenticate(...planted, refreshToken)).not.toBeNull();
    expect(await authenticate(...planted, forged(), refreshToken)).toBeNull();
    // Repeated and malformed cookies are not looked up.
    const repeated = [forged(), 'x'].flatMap((token) => Array<string>(20).fill(token));
    expect(await authenticate(...repeated, refreshToken)).not.toBeNull();
  });

  it('a logout refuses a refresh token of an earlier family', async () => {
    const first = await open();
    await renewed(app, first, 'change');
    expect(await authenticate(first.refreshToken)).toBeNull();
  });

  it('a logout by refresh cookies refuses an expired session, and ends the sessions of a disabled user', async () => {
    const expired = await open();
    app.clock.advance(8 * DAY);
    expect(await app.authentication.namesActiveSession([expired.refreshToken])).toBe(false);
    const other = await open();
    expect(await authenticate(expired.refreshToken)).toBeNull();
    await app.setActive('alice', false);
    expect(await authenticate(other.refreshToken)).toBeNull();
    await app.setActive('alice', true);
    expect(await app.storedEnd(other.sessionId)).toEqual({ state: 'revoked', end_reason: 'user_disabled' });
  });
});
