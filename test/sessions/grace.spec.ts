import { AuthSession } from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import type { Test } from 'supertest';
import { derive, sha256 } from '../../libs/auth/src/base/random';
import { formatAccessToken } from '../../libs/auth/src/tokens/tokens';
import { SECOND } from '../support/driven-clock';
import { type Pair, type TestApplication } from '../support/test-application';
import { describeOnEachDatabase, INVALID_REFRESH } from '../support/environment';

const HOME = '198.51.100.7';
const ELSEWHERE = '203.0.113.9';

const graceOf = (seconds: number, more = {}) => ({
  auth: { refreshReuseGraceSeconds: seconds, ...more },
  trustProxy: true,
});

/** Refreshes as a client in the given network. */
function refreshFrom(network: string, app: TestApplication, { refresh_token: token }: Pair): Test {
  return app.refresh(token).set('X-Forwarded-For', network);
}

async function expectReuse(app: TestApplication, presentation: Test): Promise<void> {
  await presentation.expect(400, INVALID_REFRESH);
  expect(app.sent('token_reuse_detected')).toHaveLength(1);
}

describeOnEachDatabase('a grace period of ten seconds', graceOf(10), ({ app, start, tap }) => {
  it('a replay is recorded as a replay, and changes only the number of replays in the session', async () => {
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, app, first).expect(200);
    const before = await app.storedSession(first.session_id);
    app.clock.advance(SECOND);
    await refreshFrom(HOME, app, first).expect(200);
    expect(await app.storedSession(first.session_id)).toEqual({ ...before, replayCount: 1 });
    expect((await app.history(pair.access_token)).slice(0, 2)).toMatchObject([
      { event: 'token_refresh', extra: { replayed: true }, ip_address: HOME },
      { event: 'token_refresh', extra: { network_changed: true } },
    ]);
  });

  it('the first use of a pair is stored before the response, which is 503 if that fails, and later uses change nothing', async () => {
    const first = await app.login();
    const pair = await app.refreshed(first);
    tap.hook = {
      before: ({ sql }) => {
        if (/^UPDATE .*first_used_at/s.test(sql)) throw new Error('out of order');
      },
    };
    await app.get('/me', pair.access_token).expect(503);
    tap.hook = {};
    expect(await app.storedSession(first.session_id)).toMatchObject({ firstUsedAt: null });
    const firstUsedAt = app.clock.now();
    for (let time = 0; time < 2; time++) {
      await app.expectLive(pair);
      expect(await app.storedSession(first.session_id)).toMatchObject({ firstUsedAt });
      app.clock.advance(SECOND);
    }
  });

  it('a thief on another network who refreshes first is detected on every instance when the client presents the same token after the first use of the pair', async () => {
    const other = await start(graceOf(10));
    const stolen = await app.login();
    const { body: pair } = await refreshFrom(ELSEWHERE, other, stolen).expect(200);
    await refreshFrom(HOME, app, stolen).expect(200, pair);
    await other.get('/me', pair.access_token).set('X-Forwarded-For', ELSEWHERE).expect(200);
    await expectReuse(app, refreshFrom(HOME, app, stolen));
    await app.get('/me', pair.access_token).expect(401);
  });

  it.each([
    [10, 200],
    [10.001, 400],
  ])(
    'a refresh is replayed if the clock was set back to at most 10 s before it (%d s: %i)',
    async (seconds, status) => {
      const first = await app.login();
      await refreshFrom(HOME, app, first).expect(200);
      app.clock.advance(-seconds * SECOND);
      await refreshFrom(HOME, app, first).expect(status);
      app.clock.advance(seconds * SECOND);
    },
  );

  it('only the direct predecessor of the current token is replayed, and any earlier token is reuse', async () => {
    const first = await app.login();
    const second = await app.refreshed(first);
    const third = await app.refreshed(second);
    expect(await app.refreshed(second)).toEqual(third);
    await expectReuse(app, app.refresh(first.refresh_token));
    expect(app.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 2 } }]);
    await expectReuse(app, app.refresh(second.refresh_token));
  });

  it('the pair can be derived neither from the database alone nor from an old token alone', async () => {
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, app, first).expect(200);
    const row = await app.storedSession(first.session_id);
    const seed = row.replaySeed!;
    const accessTokenBy = (secret: string, withSeed = seed): string =>
      formatAccessToken(row.id, derive(secret, Buffer.from(withSeed, 'base64url'), 65).subarray(0, 32));

    expect(Buffer.from(seed, 'base64url')).toHaveLength(16);
    expect(accessTokenBy(first.refresh_token)).toBe(pair.access_token);
    expect(accessTokenBy(first.refresh_token, randomBytes(16).toString('base64url'))).not.toBe(pair.access_token);
    const stored = Object.values(row).map(String);
    for (const secret of [...stored, pair.refresh_token, first.access_token]) {
      expect(accessTokenBy(secret)).not.toBe(pair.access_token);
    }
    for (const token of [first.refresh_token, pair.access_token, pair.refresh_token]) {
      expect(stored.join()).not.toContain(token.slice(-40));
    }
  });

  it('the network is stored as a digest that differs between tokens, so that the network cannot be looked up', async () => {
    const digests = new Set<string | null>();
    for (let session = 0; session < 2; session++) {
      const login = await app.login();
      await refreshFrom(HOME, app, login).expect(200);
      digests.add((await app.storedSession(login.session_id)).replayNetworkDigest);
    }
    expect(digests.size).toBe(2);
    expect([...digests]).not.toContain(sha256(HOME));
  });

  it.each([
    ['a different seed', () => ({ replaySeed: randomBytes(16).toString('base64url') })],
    ['a truncated seed', ({ replaySeed }: AuthSession) => ({ replaySeed: replaySeed!.slice(0, 10) })],
    ['a different access digest', () => ({ accessDigest: 'a'.repeat(64) })],
    ['a different transport', () => ({ replayTransport: 'cookie' as const })],
  ])('presenting a used token is reuse if the pair cannot be derived because of %s', async (_, change) => {
    const first = await app.login();
    await app.refreshed(first);
    const row = await app.storedSession(first.session_id);
    await app.dataSource.getRepository(AuthSession).update({ id: row.id }, change(row));
    await expectReuse(app, app.refresh(first.refresh_token));
    expect(await app.storedEnd(row.id)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
  });

  it.each([
    ['shortened to five seconds', graceOf(5), 5],
    ['switched off', graceOf(0), 0],
    ['raised to a minute', graceOf(60), 10],
  ])('a grace period that is %s affects earlier refreshes only if it is shorter', async (_, changed, seconds) => {
    const other = await start(changed);
    const first = await app.login();
    const pair = await app.refreshed(first);
    if (seconds > 0) {
      other.clock.advance(seconds * SECOND - 1);
      await other.refresh(first.refresh_token).expect(200, pair);
      other.clock.advance(1);
    }
    await expectReuse(other, other.refresh(first.refresh_token));
  });
});

describeOnEachDatabase('a grace period without tracked addresses', graceOf(10, { trackIps: false }), ({ app }) => {
  it('a replay is bound to the network of the client, although no address is stored', async () => {
    const first = await app.login();
    const { body: pair } = await refreshFrom(HOME, app, first).expect(200);
    await app.expectLive(pair);
    await refreshFrom(HOME, app, first).expect(200, pair);
    const tables = ['auth_sessions', 'auth_events'];
    const rows = await Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM ${table}`)));
    expect(JSON.stringify(rows)).not.toContain(HOME);
    await expectReuse(app, refreshFrom(ELSEWHERE, app, first));
  });
});
