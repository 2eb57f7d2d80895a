import { randomBytes, randomUUID } from 'node:crypto';
import { AuthEvent, AuthSession, AuthUser, type OpenedSession, type TokenPair } from 'nestjs-session-auth';
import {
  FAMILY_SECRET_BYTES,
  formatRefreshToken,
  parseRefreshToken,
  REFRESH_SECRET_BYTES,
} from '../../libs/auth/src/domain/tokens';
import { CookieSessions } from '../../libs/auth/src/services/sessions/cookie-sessions';
import { MINUTE, SECOND } from '../support/driven-clock';
import { Host, PASSWORD, type HostOptions } from '../support/host';
import { storedEnd, stories, type Stage } from './stories';

const HOME = { ipAddress: '198.51.100.7' };
const ELSEWHERE = { ipAddress: '203.0.113.9' };
const REFUSED = { code: 'invalid_refresh_token' };

const cookiesWith = (auth: HostOptions['auth'] = {}): Omit<HostOptions, 'database'> => ({
  auth: { cookies: { mode: 'optional' }, ...auth },
});

function sessionsOf({ host }: Stage): CookieSessions {
  return host.app.get(CookieSessions);
}

function open({ host }: Stage): Promise<OpenedSession> {
  return host.auth.login({ username: 'alice', password: PASSWORD }, HOME);
}

/** A refresh by a browser; without an access token where that cookie has expired. */
function refresh(at: Stage, pair: Partial<TokenPair>, client = HOME): Promise<TokenPair> {
  const { refreshToken, accessToken = null } = pair;
  return sessionsOf(at).refresh({ refreshToken: refreshToken!, accessToken }, client);
}

async function storedSession({ host }: Stage): Promise<AuthSession> {
  return host.dataSource.getRepository(AuthSession).findOneByOrFail({});
}

async function eventsIn({ host }: Stage): Promise<string[]> {
  const rows = await host.dataSource.getRepository(AuthEvent).find({ order: { id: 'ASC' } });
  return rows.map(({ event, extra }) => (extra['replayed'] ? `${event}, replayed` : event));
}

stories('a refresh over cookies', cookiesWith(), (at: Stage) => {
  it('is replayed for ten seconds, where one with bearer tokens is reuse', async () => {
    const { host } = at;
    const first = await open(at);
    const second = await refresh(at, { refreshToken: first.refreshToken });
    host.clock.advance(10 * SECOND - 1);
    expect(await refresh(at, { refreshToken: first.refreshToken })).toEqual(second);
    host.clock.advance(1);
    await expect(refresh(at, { refreshToken: first.refreshToken })).rejects.toMatchObject(REFUSED);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);

    const bearer = await open(at);
    await host.auth.refresh(bearer.refreshToken, HOME);
    await expect(host.auth.refresh(bearer.refreshToken, HOME)).rejects.toMatchObject(REFUSED);
    expect(host.sent('token_reuse_detected')).toHaveLength(2);
  });

  it('by text that is no refresh token is refused like any other', async () => {
    for (const refreshToken of ['', 'x', '\0']) {
      await expect(refresh(at, { refreshToken })).rejects.toMatchObject(REFUSED);
    }
  });

  it('is not replayed for a bearer client: there the predecessor is reuse', async () => {
    const first = await open(at);
    await refresh(at, { refreshToken: first.refreshToken });
    await expect(at.host.auth.refresh(first.refreshToken, HOME)).rejects.toMatchObject(REFUSED);
    expect(await storedEnd(at.host, first.sessionId)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
  });

  it('from another network gets the pair until it is first used, as with bearer tokens', async () => {
    const first = await open(at);
    const second = await refresh(at, first);
    expect(await refresh(at, { refreshToken: first.refreshToken }, ELSEWHERE)).toEqual(second);
    expect(await at.host.auth.authenticate(second.accessToken)).not.toBeNull();
    expect((await storedSession(at)).firstUsedAt).not.toBeNull();
    await expect(refresh(at, { refreshToken: first.refreshToken }, ELSEWHERE)).rejects.toMatchObject(REFUSED);
    expect(at.host.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('with the pair of a login rotates it: no refresh has issued it', async () => {
    const first = await open(at);
    expect((await refresh(at, first)).refreshToken).not.toBe(first.refreshToken);
  });

  it('with the pair that a refresh has just issued returns that pair, and writes nothing', async () => {
    const { host } = at;
    const second = await refresh(at, await open(at));
    const [row, events] = [await storedSession(at), await eventsIn(at)];
    const tabs = await Promise.all(Array.from({ length: 5 }, () => refresh(at, second)));
    host.clock.advance(10 * SECOND - 1);
    for (const pair of [...tabs, await refresh(at, second, ELSEWHERE)]) expect(pair).toEqual(second);
    expect([await storedSession(at), await eventsIn(at)]).toEqual([row, events]);
    host.clock.advance(1);
    const third = await refresh(at, second);
    expect(third.refreshToken).not.toBe(second.refreshToken);
    expect(await eventsIn(at)).toEqual([...events, 'token_refresh']);
  });

  it('with a live refresh token and another access token rotates', async () => {
    const first = await open(at);
    const second = await refresh(at, first);
    const another = await open(at);
    const rows = at.host.dataSource.getRepository(AuthSession);
    const stored = await rows.findOneByOrFail({ id: first.sessionId });
    for (const accessToken of [first.accessToken, another.accessToken, 'x', undefined]) {
      const third = await refresh(at, { refreshToken: second.refreshToken, ...(accessToken && { accessToken }) });
      expect(third.refreshToken).not.toBe(second.refreshToken);
      // As it was, for the next one.
      await rows.save(stored);
    }
    expect(at.host.sent('token_reuse_detected')).toEqual([]);
  });

  it('with a pair that a bearer client has just got rotates it', async () => {
    const first = await open(at);
    const second = await at.host.auth.refresh(first.refreshToken, HOME);
    expect((await refresh(at, second)).refreshToken).not.toBe(second.refreshToken);
  });

  it('of five tabs that wake up together with expired access cookies rotates once, and all get one pair', async () => {
    const first = await refresh(at, await open(at));
    at.host.clock.advance(20 * MINUTE);
    const { refreshToken } = first;
    const pairs = await Promise.all(Array.from({ length: 5 }, () => refresh(at, { refreshToken })));
    for (const pair of pairs) expect(pair).toEqual(pairs[0]);
    expect((await storedSession(at)).generation).toBe(2);
    expect((await eventsIn(at)).filter((event) => event === 'token_refresh')).toHaveLength(2);
    expect(at.host.sent('token_reuse_detected')).toEqual([]);
  });

  it('of five tabs with one live pair from before the grace period rotates once, and all get one pair', async () => {
    const first = await refresh(at, await open(at));
    at.host.clock.advance(MINUTE);
    const pairs = await Promise.all(Array.from({ length: 5 }, () => refresh(at, first)));
    for (const pair of pairs) expect(pair).toEqual(pairs[0]);
    expect((await storedSession(at)).generation).toBe(2);
    const next = await Promise.all(pairs.map((pair) => refresh(at, pair)));
    for (const pair of next) expect(pair).toEqual(pairs[0]);
    expect((await storedSession(at)).generation).toBe(2);
  });

  it('with the live pair of a disabled user ends the sessions, and with that of an ended session is refused', async () => {
    const second = await refresh(at, await open(at));
    const users = at.host.dataSource.getRepository(AuthUser);
    await users.update({ username: 'alice' }, { active: false });
    await expect(refresh(at, second)).rejects.toMatchObject(REFUSED);
    await users.update({ username: 'alice' }, { active: true });
    expect(await storedSession(at)).toMatchObject({ state: 'revoked', endReason: 'user_disabled' });
    await expect(refresh(at, second)).rejects.toMatchObject(REFUSED);
  });
});

stories('a refresh over cookies with a written grace period', cookiesWith({ refreshReuseGraceSeconds: 20 }), (at) => {
  it.each([
    [20 * SECOND - 1, true],
    [20 * SECOND, false],
  ])('after %i ms gets the same pair: %s, over either transport', async (wait, isSame) => {
    const { host } = at;
    for (const again of [
      (token: string) => refresh(at, { refreshToken: token }),
      (token: string) => host.auth.refresh(token, HOME),
    ]) {
      const { refreshToken } = await open(at);
      const pair = await again(refreshToken);
      host.clock.advance(wait);
      const outcome = await again(refreshToken).catch(() => null);
      expect(outcome).toEqual(isSame ? pair : null);
    }
  });

  it('is not replayed to the other transport, in neither direction', async () => {
    const bearer = await open(at);
    await at.host.auth.refresh(bearer.refreshToken, HOME);
    await expect(refresh(at, { refreshToken: bearer.refreshToken })).rejects.toMatchObject(REFUSED);
    const cookie = await open(at);
    await refresh(at, cookie);
    await expect(at.host.auth.refresh(cookie.refreshToken, HOME)).rejects.toMatchObject(REFUSED);
    expect(at.host.sent('token_reuse_detected')).toHaveLength(2);
  });
});

stories('a refresh over cookies without a grace period', cookiesWith({ refreshReuseGraceSeconds: 0 }), (at) => {
  it('rotates the live pair at once, and its predecessor is reuse', async () => {
    const first = await open(at);
    const second = await refresh(at, first);
    expect((await storedSession(at)).replaySeed).toBeNull();
    const third = await refresh(at, second);
    expect(third.refreshToken).not.toBe(second.refreshToken);
    await expect(refresh(at, second)).rejects.toMatchObject(REFUSED);
    expect(at.host.sent('token_reuse_detected')).toHaveLength(1);
  });
});

stories('a refresh over cookies without rotation', cookiesWith({ rotateRefreshTokens: false }), (at) => {
  it('keeps the refresh token and issues a new access token each time', async () => {
    const first = await open(at);
    const second = await refresh(at, first);
    const third = await refresh(at, second);
    expect([second.refreshToken, third.refreshToken]).toEqual([first.refreshToken, first.refreshToken]);
    expect(new Set([first, second, third].map(({ accessToken }) => accessToken)).size).toBe(3);
  });
});

/** In seconds. The session ends 1,000 s after its login. */
const TIMES = { accessTokenTtlSeconds: 300, refreshTokenTtlSeconds: 600, absoluteTimeoutSeconds: 1_000 };

for (const rotateRefreshTokens of [true, false]) {
  const options = cookiesWith({ ...TIMES, rotateRefreshTokens });
  stories(`the expiries of a pair with rotateRefreshTokens: ${rotateRefreshTokens}`, options, (at: Stage) => {
    let start: number;
    beforeEach(() => void (start = at.host.clock.now()));

    /** When the tokens expire, in seconds since the login. */
    const expiries = ({ accessTokenExpiresAt, refreshTokenExpiresAt }: TokenPair): number[] =>
      [accessTokenExpiresAt, refreshTokenExpiresAt].map((instant) => (instant.getTime() - start) / SECOND);

    it('are those of the tokens at a login and at each refresh, and at most the end of the session', async () => {
      const { host } = at;
      const opened = await open(at);
      expect(expiries(opened)).toEqual([300, 600]);
      host.clock.advance(350 * SECOND);
      const byBearer = await host.auth.refresh(opened.refreshToken, HOME);
      expect(expiries(byBearer)).toEqual([650, 950]);
      host.clock.advance(100 * SECOND);
      const byCookie = await refresh(at, byBearer);
      expect(expiries(byCookie)).toEqual([750, 1_000]);
      host.clock.advance(400 * SECOND);
      const capped = await host.auth.refresh(byCookie.refreshToken, HOME);
      expect(expiries(capped)).toEqual([1_000, 1_000]);
      host.clock.advance(150 * SECOND - 1);
      expect(await host.auth.authenticate(capped.accessToken)).not.toBeNull();
      host.clock.advance(1);
      expect(await host.auth.authenticate(capped.accessToken)).toBeNull();
    });

    if (rotateRefreshTokens) {
      it('stay the same where the pair is replayed or unchanged', async () => {
        const { refreshToken } = await open(at);
        const second = await refresh(at, { refreshToken });
        at.host.clock.advance(5 * SECOND);
        expect(expiries(await refresh(at, { refreshToken }))).toEqual([300, 600]);
        expect(expiries(await refresh(at, second))).toEqual([300, 600]);
      });
    }

    it('are those of the new pair at a reauthentication and at a password change', async () => {
      const { host } = at;
      let pair: TokenPair = await open(at);
      for (const [renew, expected] of [
        ['reauthenticate', [350, 650]],
        ['change', [600, 900]],
        ['reauthenticate', [850, 1_000]],
        ['change', [1_000, 1_000]],
      ] as const) {
        host.clock.advance((renew === 'change' ? 250 : 50) * SECOND);
        if (expected[0] === 850) host.clock.advance(200 * SECOND);
        pair = await renewed(host, pair, renew);
        expect([renew, expiries(pair)]).toEqual([renew, expected]);
        expect(await host.auth.authenticate(pair.accessToken)).not.toBeNull();
      }
    });
  });
}

async function renewed(host: Host, { accessToken }: TokenPair, by: 'reauthenticate' | 'change'): Promise<TokenPair> {
  const principal = (await host.auth.authenticate(accessToken))!;
  if (by === 'reauthenticate') return host.auth.reauthenticate(principal, PASSWORD, HOME);
  return host.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: PASSWORD }, HOME);
}

stories('a logout by refresh cookies', cookiesWith(), (at: Stage) => {
  const authenticate = (...tokens: string[]) => sessionsOf(at).authenticateByRefreshTokens(tokens, HOME);

  /** A refresh token of the same family with another generation, as its holder could have had it. */
  const ofGeneration = (token: string, generation: number): string =>
    formatRefreshToken({ ...parseRefreshToken(token)!, generation }, randomBytes(REFRESH_SECRET_BYTES));

  const forged = (): string =>
    formatRefreshToken(
      { sessionId: randomUUID(), familySecret: randomBytes(FAMILY_SECRET_BYTES), generation: 0 },
      randomBytes(REFRESH_SECRET_BYTES),
    );

  it('accepts a refresh token of any generation, and changes and reports nothing', async () => {
    const { host } = at;
    const first = await open(at);
    let live: TokenPair = first;
    for (let i = 0; i < 3; i++) {
      live = await refresh(at, { refreshToken: live.refreshToken });
      host.clock.advance(MINUTE);
    }
    const [row, events] = [await storedSession(at), await eventsIn(at)];
    host.signals.length = 0;
    for (const token of [first.refreshToken, live.refreshToken, ofGeneration(live.refreshToken, 900)]) {
      expect(await authenticate(token)).toMatchObject({
        userId: row.userId,
        session: { id: first.sessionId, isCurrent: true },
        authenticatedAt: new Date(row.authenticatedAt),
      });
    }
    expect([await storedSession(at), await eventsIn(at), host.signals]).toEqual([row, events, []]);
  });

  it('ends the session, after which no token of it is accepted', async () => {
    const { host } = at;
    const first = await open(at);
    await refresh(at, first);
    host.clock.advance(MINUTE);
    await host.auth.logout((await authenticate(first.refreshToken))!, HOME);
    expect(await storedEnd(host, first.sessionId)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(await authenticate(first.refreshToken)).toBeNull();
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });

  it('takes the first token that is of a live session, of at most ten', async () => {
    const { refreshToken, sessionId } = await open(at);
    const { refreshToken: later } = await open(at);
    expect(await authenticate('', 'x', refreshToken.slice(0, -1), forged(), refreshToken, later)).toMatchObject({
      session: { id: sessionId },
    });
    const planted = Array.from({ length: 9 }, forged);
    expect(await authenticate(...planted, refreshToken)).not.toBeNull();
    expect(await authenticate(...planted, forged(), refreshToken)).toBeNull();
    // Repeated and malformed ones are not looked up.
    expect(
      await authenticate(...Array<string>(20).fill(forged()), ...Array<string>(20).fill('x'), refreshToken),
    ).not.toBe(null);
  });

  it('refuses a token of an earlier family, of which the database has no digest', async () => {
    const first = await open(at);
    await renewed(at.host, first, 'change');
    expect(await authenticate(first.refreshToken)).toBeNull();
  });

  it('stores the end of an expired session, and of those of a disabled user', async () => {
    const { host } = at;
    const expired = await open(at);
    host.clock.advance(8 * 24 * 60 * MINUTE);
    expect(await sessionsOf(at).namesActiveSession(expired.refreshToken)).toBe(false);
    const other = await open(at);
    expect(await authenticate(expired.refreshToken)).toBeNull();
    expect(await storedEnd(host, expired.sessionId)).toEqual({ state: 'expired', end_reason: 'expired' });
    const users = host.dataSource.getRepository(AuthUser);
    await users.update({ username: 'alice' }, { active: false });
    expect(await authenticate(other.refreshToken)).toBeNull();
    await users.update({ username: 'alice' }, { active: true });
    expect(await storedEnd(host, other.sessionId)).toEqual({ state: 'revoked', end_reason: 'user_disabled' });
  });

  it('a refresh token names an active session whoever wrote it, and no other text does', async () => {
    const { host } = at;
    const first = await open(at);
    const names = (token: string) => sessionsOf(at).namesActiveSession(token);
    const guessed = formatRefreshToken(
      { sessionId: first.sessionId, familySecret: randomBytes(FAMILY_SECRET_BYTES), generation: 7 },
      randomBytes(REFRESH_SECRET_BYTES),
    );
    expect([await names(first.refreshToken), await names(guessed)]).toEqual([true, true]);
    expect([await names(forged()), await names(''), await names(first.accessToken)]).toEqual([false, false, false]);
    await host.auth.logout((await host.auth.authenticate(first.accessToken))!, HOME);
    expect(await names(first.refreshToken)).toBe(false);
  });
});
