import { Controller, Get, UseGuards } from '@nestjs/common';
import { AuthSession, BearerAuthGuard, CurrentSession, type SessionInfo } from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import type { Test } from 'supertest';
import { DataSource } from 'typeorm';
import { NodeCryptoSource } from '../../libs/auth/src/adapters/node-crypto-source';
import { formatAccessToken } from '../../libs/auth/src/domain/tokens';
import { SECOND } from '../support/driven-clock';
import { Host, PASSWORD, type HostOptions } from '../support/host';
import { Tap } from '../support/tap';
import { eventsOf, historyOf, INVALID_REFRESH, setActive, storedEnd, stories, type Stage } from './stories';

const HOME = '198.51.100.7';
const ELSEWHERE = '203.0.113.9';

/** Returns what is stored of the first use of the access token while the request is being handled. */
@Controller()
class FirstUseController {
  constructor(private readonly dataSource: DataSource) {}

  @Get('first-use')
  @UseGuards(BearerAuthGuard)
  async firstUse(@CurrentSession() { id }: SessionInfo): Promise<object> {
    const { firstUsedAt } = await this.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
    return { first_used_at: firstUsedAt };
  }
}

const graceOf = (seconds: number): Omit<HostOptions, 'database'> => ({
  auth: { refreshReuseGraceSeconds: seconds },
  trustProxy: true,
  controllers: [FirstUseController],
});

/** A refresh by a client in this network. */
function refreshFrom(network: string, host: Host, refreshToken: string): Test {
  return host.refresh(refreshToken).set('X-Forwarded-For', network);
}

function storedSession({ host }: Stage, id: string): Promise<AuthSession> {
  return host.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
}

/** Another instance on the same database, at the same time. */
async function withInstance<T>(
  { host, database }: Stage,
  options: Omit<HostOptions, 'database'>,
  work: (other: Host) => Promise<T>,
): Promise<T> {
  const other = await Host.start({ database, ...options, users: [] });
  try {
    other.clock.advance(host.clock.now() - other.clock.now());
    return await work(other);
  } finally {
    await other.close();
  }
}

async function expectReuse({ host }: Stage, presentation: Test): Promise<void> {
  await presentation.expect(400, INVALID_REFRESH);
  expect(host.sent('token_reuse_detected')).toHaveLength(1);
}

stories('within a grace period of ten seconds', graceOf(10), (at: Stage) => {
  let tap: Tap;
  beforeAll(() => void (tap = new Tap(at.host)));

  it('a client that lost the response gets the very same pair again, as often as it asks', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom(HOME, host, first.refresh_token).expect(200);
    for (const wait of [0, 5 * SECOND, 5 * SECOND - 1]) {
      host.clock.advance(wait);
      await refreshFrom(HOME, host, first.refresh_token).expect(200, pair);
    }
    await host.get('/me', pair.access_token).expect(200);
    await host.refresh(pair.refresh_token).expect(200);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    expect(host.sent('user_logged_out')).toEqual([]);
  });

  it('a replay is recorded as a replay, and changes only the number of replays in the session', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom(HOME, host, first.refresh_token).expect(200);
    const before = await storedSession(at, first.session_id);
    host.clock.advance(SECOND);
    await refreshFrom(HOME, host, first.refresh_token).expect(200);
    expect(await storedSession(at, first.session_id)).toEqual({ ...before, replayCount: 1 });
    const [replay, refresh] = await historyOf(host, pair.access_token);
    expect([replay!.event, replay!.extra, replay!.ip_address]).toEqual(['token_refresh', { replayed: true }, HOME]);
    expect([refresh!.event, refresh!.extra]).toEqual(['token_refresh', { network_changed: true }]);
  });

  it.each([2, 5, 20])('%i parallel refreshes with one token all get one pair, and no session ends', async (count) => {
    const { host } = at;
    const first = await host.login();
    const responses = await Promise.all(Array.from({ length: count }, () => host.refresh(first.refresh_token)));
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses[0]!.status).toBe(200);
    const { body: next } = await host.refresh(responses[0]!.body.refresh_token).expect(200);
    const refreshes = (await historyOf(host, next.access_token)).filter(({ event }) => event === 'token_refresh');
    expect(refreshes.filter(({ extra }) => extra['replayed'])).toHaveLength(count - 1);
    expect(refreshes).toHaveLength(count + 1);
  });

  it('another network gets the pair until its access token is first used, and is reuse from then on', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom(HOME, host, first.refresh_token).expect(200);
    await refreshFrom(ELSEWHERE, host, first.refresh_token).expect(200, pair);
    await host.get('/me', pair.access_token).expect(200);
    await expectReuse(at, refreshFrom(ELSEWHERE, host, first.refresh_token));
    await host.get('/me', pair.access_token).expect(401);
    expect(await storedEnd(host, first.session_id)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
  });

  it('the network that the pair was issued to gets it after its first use too', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom(HOME, host, first.refresh_token).expect(200);
    for (let time = 0; time < 2; time++) {
      await host.get('/me', pair.access_token).set('X-Forwarded-For', ELSEWHERE).expect(200);
      await refreshFrom(HOME, host, first.refresh_token).expect(200, pair);
    }
  });

  it('the addresses of one IPv6 /64 are one network, and those of another are not', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom('2001:db8:0:1::1', host, first.refresh_token).expect(200);
    await host.get('/me', pair.access_token).expect(200);
    await refreshFrom('2001:db8:0:1:ffff::2', host, first.refresh_token).expect(200, pair);
    await expectReuse(at, refreshFrom('2001:db8:0:2::1', host, first.refresh_token));
  });

  it('the first use of a pair is stored before the request is handled, and later ones change nothing', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    expect(await storedSession(at, first.session_id)).toMatchObject({ firstUsedAt: null });
    const usedAt = host.clock.now();
    for (let time = 0; time < 2; time++) {
      await host.get('/first-use', pair.access_token).expect(200, { first_used_at: usedAt });
      host.clock.advance(SECOND);
    }
  });

  it('a request whose first use cannot be stored is answered with 503', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom(HOME, host, first.refresh_token).expect(200);
    tap.hook = {
      before: ({ sql }) => {
        if (/^UPDATE .*first_used_at/s.test(sql)) throw new Error('out of order');
      },
    };
    await host.get('/me', pair.access_token).expect(503);
    tap.hook = {};
    await refreshFrom(ELSEWHERE, host, first.refresh_token).expect(200, pair);
  });

  it('the first use of a pair that is older than the grace period is not stored', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    host.clock.advance(10 * SECOND);
    await host.get('/first-use', pair.access_token).expect(200, { first_used_at: null });
  });

  it('the first use of a pair at one instance counts at every other', async () => {
    const { host } = at;
    await withInstance(at, graceOf(10), async (other) => {
      const first = await host.login();
      const { body: pair } = await refreshFrom(HOME, other, first.refresh_token).expect(200);
      await refreshFrom(ELSEWHERE, host, first.refresh_token).expect(200, pair);
      await other.get('/me', pair.access_token).expect(200);
      await expectReuse(at, refreshFrom(ELSEWHERE, host, first.refresh_token));
    });
  });

  it('a first use through AuthService.authenticate counts too', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom(HOME, host, first.refresh_token).expect(200);
    expect(await host.auth.authenticate(pair.access_token)).not.toBeNull();
    await expectReuse(at, refreshFrom(ELSEWHERE, host, first.refresh_token));
  });

  it('a thief on another network who refreshes first is detected when the client presents its token', async () => {
    const { host } = at;
    const stolen = await host.login();
    const { body: pair } = await refreshFrom(ELSEWHERE, host, stolen.refresh_token).expect(200);
    await host.get('/me', pair.access_token).set('X-Forwarded-For', ELSEWHERE).expect(200);
    await expectReuse(at, refreshFrom(HOME, host, stolen.refresh_token));
    await host.get('/me', pair.access_token).expect(401);
  });

  it('the token is reuse at the very millisecond at which the period ends', async () => {
    const { host } = at;
    const first = await host.login();
    host.clock.advance(SECOND);
    const lastRefreshAt = new Date(host.clock.now());
    await host.refresh(first.refresh_token).expect(200);
    host.clock.advance(10 * SECOND);
    await expectReuse(at, host.refresh(first.refresh_token));
    expect(host.sent('token_reuse_detected')).toMatchObject([{ reuse: { lastRefreshAt, generationsBehind: 1 } }]);
  });

  it('only the direct predecessor is replayed: a token before it is reuse', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: second } = await host.refresh(first.refresh_token).expect(200);
    await host.refresh(second.refresh_token).expect(200);
    await expectReuse(at, host.refresh(first.refresh_token));
    expect(host.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 2 } }]);
    await expectReuse(at, host.refresh(second.refresh_token));
  });

  it('the hundred and first replay is refused, which ends no session and is not reported', async () => {
    const { host } = at;
    const { refreshToken } = await host.auth.login({ username: 'alice', password: PASSWORD });
    const pair = await host.auth.refresh(refreshToken);
    for (let replay = 1; replay <= 100; replay++) expect(await host.auth.refresh(refreshToken)).toEqual(pair);
    for (let time = 0; time < 2; time++) {
      await expect(host.auth.refresh(refreshToken)).rejects.toMatchObject({ code: 'invalid_refresh_token' });
    }
    expect(await eventsOf(host, pair.accessToken)).toHaveLength(102);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    await host.refresh(pair.refreshToken).expect(200);
  });

  it('the session of a replay must be active: an ended one stays ended', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    await host.post('/auth/logout', pair.access_token).expect(200);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', pair.access_token).expect(401);
    expect(await storedEnd(host, first.session_id)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(await storedSession(at, first.session_id)).toMatchObject({ replaySeed: null });
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });

  it('the account of a replay must be active: the sessions of a disabled user end', async () => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    await setActive(host, 'alice', false);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await setActive(host, 'alice', true);
    expect(await storedEnd(host, first.session_id)).toEqual({ state: 'revoked', end_reason: 'user_disabled' });
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });

  it('a token whose successor was replaced by a password change is refused, which is no reuse', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: second } = await host.refresh(first.refresh_token).expect(200);
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    const { body: third } = await host.post('/auth/password/change', second.access_token, change).expect(200);
    expect(await storedSession(at, first.session_id)).toMatchObject({ replaySeed: null });
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', third.access_token).expect(200);
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });

  it('neither the database nor an old token alone is enough to derive the pair', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom(HOME, host, first.refresh_token).expect(200);
    const row = await storedSession(at, first.session_id);
    const crypto = new NodeCryptoSource();
    const accessTokenBy = (secret: string, seed: string): string =>
      formatAccessToken(row.id, crypto.derive(secret, Buffer.from(seed, 'base64url'), 65).subarray(0, 32));

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

  it.each([
    ['another seed', () => ({ replaySeed: randomBytes(16).toString('base64url') })],
    ['a seed that is cut off', ({ replaySeed }: AuthSession) => ({ replaySeed: replaySeed!.slice(0, 10) })],
    ['another access digest', () => ({ accessDigest: 'a'.repeat(64) })],
    ['another transport', () => ({ replayTransport: 'cookie' as const })],
  ])('a token that does not lead to the stored pair is reuse: %s', async (_, change) => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    const row = await storedSession(at, first.session_id);
    await host.dataSource.getRepository(AuthSession).update({ id: row.id }, change(row));
    await expectReuse(at, host.refresh(first.refresh_token));
    expect(await storedEnd(host, row.id)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
  });

  it.each([
    ['shortened to five seconds', graceOf(5), 5],
    ['switched off', graceOf(0), 0],
    ['raised to a minute', graceOf(60), 10],
  ])('a period that is %s acts on earlier refreshes only where it is shorter', async (_, changed, seconds) => {
    const { host } = at;
    await withInstance(at, changed, async (other) => {
      const first = await host.login();
      const { body: pair } = await host.refresh(first.refresh_token).expect(200);
      if (seconds > 0) {
        other.clock.advance(seconds * SECOND - 1);
        await other.refresh(first.refresh_token).expect(200, pair);
        other.clock.advance(1);
      }
      await other.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
      expect(other.sent('token_reuse_detected')).toHaveLength(1);
    });
  });
});

const UNTRACKED = { ...graceOf(10), auth: { refreshReuseGraceSeconds: 10, trackIps: false } };

stories('within a grace period where addresses are not tracked', UNTRACKED, (at: Stage) => {
  it('the network of a client counts all the same, and none is stored', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await refreshFrom(HOME, host, first.refresh_token).expect(200);
    await host.get('/me', pair.access_token).expect(200);
    await refreshFrom(HOME, host, first.refresh_token).expect(200, pair);
    const tables = ['auth_sessions', 'auth_events'];
    const rows = await Promise.all(tables.map((table) => host.dataSource.query(`SELECT * FROM ${table}`)));
    expect(JSON.stringify(rows)).not.toContain(HOME);
    await expectReuse(at, refreshFrom(ELSEWHERE, host, first.refresh_token));
  });
});

stories('within a grace period, the network of a client', graceOf(10), (at: Stage) => {
  it('is stored as a digest that differs between tokens, so that it cannot be looked up', async () => {
    const { host } = at;
    const digests = new Set<string | null>();
    for (let session = 0; session < 2; session++) {
      const { session_id: id, refresh_token: token } = await host.login();
      await refreshFrom(HOME, host, token).expect(200);
      digests.add((await storedSession(at, id)).replayNetworkDigest);
    }
    expect(digests.size).toBe(2);
    expect([...digests]).not.toContain(new NodeCryptoSource().sha256(HOME));
  });
});

stories('without a grace period', graceOf(0), (at: Stage) => {
  it('no seed, no window and no first use is stored', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    await host.get('/me', pair.access_token).expect(200);
    expect(await storedSession(at, first.session_id)).toMatchObject({
      replaySeed: null,
      replayUntil: null,
      replayTransport: null,
      replayNetworkDigest: null,
      firstUsedAt: null,
    });
  });

  it('a refresh token presented again within the same millisecond is reuse', async () => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    await expectReuse(at, host.refresh(first.refresh_token));
    expect(host.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 1 } }]);
  });
});
