import { AuthSession } from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import type { Response, Test } from 'supertest';
import { derive, sha256 } from '../../libs/auth/src/base/random';
import { formatAccessToken } from '../../libs/auth/src/tokens/tokens';
import { SECOND } from '../support/driven-clock';
import { PASSWORD, TestApplication, type TestApplicationOptions } from '../support/test-application';
import {
  historyOf,
  INVALID_REFRESH,
  setActive,
  storedEnd,
  storedSession,
  describeOnEachDatabase,
  describeOnEachServer,
} from '../support/environment';

const HOME = '198.51.100.7';
const ELSEWHERE = '203.0.113.9';

const graceOf = (seconds: number): Omit<TestApplicationOptions, 'database'> => ({
  auth: { refreshReuseGraceSeconds: seconds },
  trustProxy: true,
});

/** Refreshes as a client in the given network. */
function refreshFrom(network: string, app: TestApplication, refreshToken: string): Test {
  return app.refresh(refreshToken).set('X-Forwarded-For', network);
}

async function expectReuse(app: TestApplication, presentation: Test): Promise<void> {
  await presentation.expect(400, INVALID_REFRESH);
  expect(app.sent('token_reuse_detected')).toHaveLength(1);
}

describeOnEachDatabase('a grace period of ten seconds', graceOf(10), ({ app, start, tap }) => {
  it('a client that lost the response receives the same pair for each repetition of the refresh', async () => {
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, app, first.refresh_token).expect(200);
    for (const wait of [0, 5 * SECOND, 5 * SECOND - 1]) {
      app.clock.advance(wait);
      await refreshFrom(HOME, app, first.refresh_token).expect(200, pair);
    }
    await app.get('/me', pair.access_token).expect(200);
    await app.refresh(pair.refresh_token).expect(200);
    expect(app.sent('token_reuse_detected')).toEqual([]);
    expect(app.sent('user_logged_out')).toEqual([]);
  });

  it('a replay is recorded as a replay, and changes only the number of replays in the session', async () => {
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, app, first.refresh_token).expect(200);
    const before = await storedSession(app, first.session_id);
    app.clock.advance(SECOND);
    await refreshFrom(HOME, app, first.refresh_token).expect(200);
    expect(await storedSession(app, first.session_id)).toEqual({ ...before, replayCount: 1 });
    const [replay, refresh] = await historyOf(app, pair.access_token);
    expect([replay!.event, replay!.extra, replay!.ip_address]).toEqual(['token_refresh', { replayed: true }, HOME]);
    expect([refresh!.event, refresh!.extra]).toEqual(['token_refresh', { network_changed: true }]);
  });

  it.each([2, 20])('%i parallel refreshes with one token return the same pair, and no session ends', async (count) => {
    const first = await app.login();
    const responses = await Promise.all(Array.from({ length: count }, () => app.refresh(first.refresh_token)));
    const [{ body: pair }] = responses as [Response];
    expect(responses.map(({ status, body }) => [status, body])).toEqual(Array(count).fill([200, pair]));
    const { body: next } = await app.refresh(pair.refresh_token).expect(200);
    const refreshes = (await historyOf(app, next.access_token)).filter(({ event }) => event === 'token_refresh');
    expect(refreshes.filter(({ extra }) => extra['replayed'])).toHaveLength(count - 1);
    expect(refreshes).toHaveLength(count + 1);
  });

  it('the first use of a pair is stored before the response, and later uses change nothing', async () => {
    const first = await app.login();
    const { body: pair } = await app.refresh(first.refresh_token).expect(200);
    expect(await storedSession(app, first.session_id)).toMatchObject({ firstUsedAt: null });
    const firstUsedAt = app.clock.now();
    for (let time = 0; time < 2; time++) {
      await app.get('/me', pair.access_token).expect(200);
      expect(await storedSession(app, first.session_id)).toMatchObject({ firstUsedAt });
      app.clock.advance(SECOND);
    }
  });

  it('a request fails with 503 if the first use of its access token cannot be stored', async () => {
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, app, first.refresh_token).expect(200);
    tap.hook = {
      before: ({ sql }) => {
        if (/^UPDATE .*first_used_at/s.test(sql)) throw new Error('out of order');
      },
    };
    await app.get('/me', pair.access_token).expect(503);
    tap.hook = {};
    await refreshFrom(ELSEWHERE, app, first.refresh_token).expect(200, pair);
  });

  it('the first use of a pair on one instance is known to all instances', async () => {
    const other = await start(graceOf(10));
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, other, first.refresh_token).expect(200);
    await refreshFrom(ELSEWHERE, app, first.refresh_token).expect(200, pair);
    await other.get('/me', pair.access_token).expect(200);
    await expectReuse(app, refreshFrom(ELSEWHERE, app, first.refresh_token));
  });

  it('a thief on another network who refreshes first is detected when the client presents the same token', async () => {
    const stolen = await app.login();
    const { body: pair } = await refreshFrom(ELSEWHERE, app, stolen.refresh_token).expect(200);
    await app.get('/me', pair.access_token).set('X-Forwarded-For', ELSEWHERE).expect(200);
    await expectReuse(app, refreshFrom(HOME, app, stolen.refresh_token));
    await app.get('/me', pair.access_token).expect(401);
  });

  it('presenting a used token is reuse if the clock was set back to more than ten seconds before its refresh', async () => {
    for (const [seconds, status] of [
      [10, 200],
      [10.001, 400],
    ] as const) {
      const { refresh_token: token } = await app.login();
      await refreshFrom(HOME, app, token).expect(200);
      app.clock.advance(-seconds * SECOND);
      await refreshFrom(HOME, app, token).expect(status);
      app.clock.advance(seconds * SECOND);
    }
  });

  it('only the direct predecessor of the current token is replayed, and any earlier token is reuse', async () => {
    const first = await app.login();
    const { body: second } = await app.refresh(first.refresh_token).expect(200);
    const { body: third } = await app.refresh(second.refresh_token).expect(200);
    await app.refresh(second.refresh_token).expect(200, third);
    await expectReuse(app, app.refresh(first.refresh_token));
    expect(app.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 2 } }]);
    await expectReuse(app, app.refresh(second.refresh_token));
  });

  it('the refresh of an ended session is not replayed', async () => {
    const first = await app.login();
    const { body: pair } = await app.refresh(first.refresh_token).expect(200);
    await app.post('/auth/logout', pair.access_token).expect(200);
    await app.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    expect(await storedSession(app, first.session_id)).toMatchObject({ state: 'logged_out', replaySeed: null });
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it("a replay for a disabled user ends the user's sessions", async () => {
    const first = await app.login();
    await app.refresh(first.refresh_token).expect(200);
    await setActive(app, 'alice', false);
    await app.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await setActive(app, 'alice', true);
    expect(await storedEnd(app, first.session_id)).toEqual({ state: 'revoked', end_reason: 'user_disabled' });
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it('a used token whose successor was replaced by a password change is refused, but presenting it is not reuse', async () => {
    const first = await app.login();
    const { body: second } = await app.refresh(first.refresh_token).expect(200);
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    const { body: third } = await app.post('/auth/password/change', second.access_token, change).expect(200);
    expect(await storedSession(app, first.session_id)).toMatchObject({ replaySeed: null, replayUntil: null });
    await app.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await app.get('/me', third.access_token).expect(200);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });

  it('the pair can be derived neither from the database alone nor from an old token alone', async () => {
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, app, first.refresh_token).expect(200);
    const row = await storedSession(app, first.session_id);
    const accessTokenBy = (secret: string, seed: string): string =>
      formatAccessToken(row.id, derive(secret, Buffer.from(seed, 'base64url'), 65).subarray(0, 32));

    const seed = row.replaySeed!;
    expect(Buffer.from(seed, 'base64url')).toHaveLength(16);
    expect(accessTokenBy(first.refresh_token, seed)).toBe(pair.access_token);
    expect(accessTokenBy(first.refresh_token, randomBytes(16).toString('base64url'))).not.toBe(pair.access_token);
    const stored = Object.values(row).map(String);
    for (const secret of [...stored, pair.refresh_token, first.access_token]) {
      expect(accessTokenBy(secret, seed)).not.toBe(pair.access_token);
    }
    for (const token of [first.refresh_token, pair.access_token, pair.refresh_token]) {
      expect(stored.join()).not.toContain(token.slice(-40));
    }
  });

  it('the network is stored as a digest that differs between tokens, so that the network cannot be looked up', async () => {
    const digests = new Set<string | null>();
    for (let session = 0; session < 2; session++) {
      const { session_id: id, refresh_token: token } = await app.login();
      await refreshFrom(HOME, app, token).expect(200);
      digests.add((await storedSession(app, id)).replayNetworkDigest);
    }
    expect(digests.size).toBe(2);
    expect([...digests]).not.toContain(sha256(HOME));
  });

  it.each([
    ['a different seed', () => ({ replaySeed: randomBytes(16).toString('base64url') })],
    ['a truncated seed', ({ replaySeed }: AuthSession) => ({ replaySeed: replaySeed!.slice(0, 10) })],
    ['a different access digest', () => ({ accessDigest: 'a'.repeat(64) })],
    ['a different transport', () => ({ replayTransport: 'cookie' as const })],
  ])(
    'presenting a used token is reuse if the stored pair cannot be derived from the token because of %s',
    async (_, change) => {
      const first = await app.login();
      await app.refresh(first.refresh_token).expect(200);
      const row = await storedSession(app, first.session_id);
      await app.dataSource.getRepository(AuthSession).update({ id: row.id }, change(row));
      await expectReuse(app, app.refresh(first.refresh_token));
      expect(await storedEnd(app, row.id)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
    },
  );

  it.each([
    ['shortened to five seconds', graceOf(5), 5],
    ['switched off', graceOf(0), 0],
    ['raised to a minute', graceOf(60), 10],
  ])(
    'a grace period that is %s affects earlier refreshes only if the new period is shorter',
    async (_, changed, seconds) => {
      const other = await start(changed);
      const first = await app.login();
      const { body: pair } = await app.refresh(first.refresh_token).expect(200);
      if (seconds > 0) {
        other.clock.advance(seconds * SECOND - 1);
        await other.refresh(first.refresh_token).expect(200, pair);
        other.clock.advance(1);
      }
      await other.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
      expect(other.sent('token_reuse_detected')).toHaveLength(1);
    },
  );
});

describeOnEachServer('the first use of an access token', graceOf(10), ({ app, start, tap }) => {
  it('an access token that is replaced before its first use is stored is refused', async () => {
    const first = await app.login();
    const { body: pair } = await app.refresh(first.refresh_token).expect(200);
    const other = await start(graceOf(10));
    tap.hook = {
      before: async ({ sql }) => {
        if (!/^UPDATE .*first_used_at/s.test(sql)) return;
        tap.hook = {};
        await other.refresh(pair.refresh_token).expect(200);
      },
    };
    await app.get('/me', pair.access_token).expect(401);
  });
});

const UNTRACKED = { ...graceOf(10), auth: { refreshReuseGraceSeconds: 10, trackIps: false } };

describeOnEachDatabase('a grace period without tracked addresses', UNTRACKED, ({ app }) => {
  it('a replay is bound to the network of the client, although no address is stored', async () => {
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, app, first.refresh_token).expect(200);
    await app.get('/me', pair.access_token).expect(200);
    await refreshFrom(HOME, app, first.refresh_token).expect(200, pair);
    const tables = ['auth_sessions', 'auth_events'];
    const rows = await Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM ${table}`)));
    expect(JSON.stringify(rows)).not.toContain(HOME);
    await expectReuse(app, refreshFrom(ELSEWHERE, app, first.refresh_token));
  });
});
