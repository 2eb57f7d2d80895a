import fc from 'fast-check';
import { AuthEvent, AuthRefreshToken, AuthSession, AuthUser, type AuthModuleOptions } from 'nestjs-session-auth';
import { createDatabase, DATABASES, describeOn, type DatabaseName, type TestDatabase } from '../support/databases';
import { DrivenClock, HOUR } from '../support/driven-clock';
import { Host } from '../support/host';

const NOW = new DrivenClock().now();
const IDLE = HOUR;
const ABSOLUTE = 2 * HOUR;
const LIMITS: AuthModuleOptions = { idleTimeoutSeconds: IDLE / 1_000, absoluteTimeoutSeconds: ABSOLUTE / 1_000 };

/** About now, where a limit is met, or far from it. */
const near = (instant: number): fc.Arbitrary<number> =>
  fc.oneof(fc.integer({ min: instant - 2, max: instant + 2 }), fc.constant(instant + 10 * HOUR));

/** What is stored of a session, whatever limits it was opened with and whatever the clocks of other instances say. */
const situations = fc.record({
  createdAt: near(NOW - ABSOLUTE),
  lastActivity: fc.oneof(near(NOW - IDLE), near(NOW)),
  idleExpiresAt: near(NOW),
  absoluteExpiresAt: near(NOW),
  refreshExpiresAt: near(NOW),
  state: fc.constantFrom('active' as const, 'active' as const, 'active' as const, 'revoked' as const),
  account: fc.constantFrom('active', 'active', 'active', 'disabled', 'deleted'),
  isUsed: fc.boolean(),
});
type Situation = typeof situations extends fc.Arbitrary<infer T> ? T : never;

/** PostgreSQL decides by the statement that writes, the others by the rules of the domain. SQLite is always there. */
const COMPARED = [...new Set<DatabaseName>(['sqlite', ...DATABASES])];

describeOn('postgres').each<{ name: string; auth: AuthModuleOptions }>([
  { name: 'rotated', auth: {} },
  { name: 'rotated, with a grace period', auth: { refreshReuseGraceSeconds: 30 } },
  { name: 'not rotated', auth: { rotateRefreshTokens: false } },
])(`refresh tokens that are $name`, ({ auth }) => {
  let databases: TestDatabase[];
  let hosts: Host[];

  beforeAll(async () => {
    databases = await Promise.all(COMPARED.map(createDatabase));
    hosts = [];
    for (const database of databases)
      hosts.push(await Host.start({ database, users: [], auth: { ...LIMITS, ...auth } }));
  });
  afterAll(async () => {
    for (const host of hosts) await host.close();
    for (const database of databases) await database.drop();
  });

  /** What comes of a refresh: what it answers, what it tells, and what is stored then, but for what is left to chance. */
  async function refreshed(host: Host, situation: Situation): Promise<object> {
    const { dataSource } = host;
    await host.reset();
    await dataSource.getRepository(AuthUser).clear();
    const { account, isUsed, ...row } = situation;
    const user = await host.auth.createUser({ username: 'alice', password: null });
    const opened = await host.auth.openSession(user);
    const [sessions, users] = [dataSource.getRepository(AuthSession), dataSource.getRepository(AuthUser)];
    if (isUsed) await host.auth.refresh(opened.refreshToken);
    await sessions.update({ userId: String(user.id) }, row);
    if (account === 'disabled') await users.update({ username: 'alice' }, { active: false });
    if (account === 'deleted') await users.clear();
    const { refreshDigest: before } = await sessions.findOneByOrFail({});
    host.signals.length = 0;

    const answer = await host.auth.refresh(opened.refreshToken).then(
      (pair) => (pair.refreshToken === opened.refreshToken ? 'the same' : 'another'),
      (error: { code: string }) => error.code,
    );
    const { id, userId, accessDigest, refreshDigest, sealedAnswer, ...session } = await sessions.findOneByOrFail({});
    const used = await dataSource.getRepository(AuthRefreshToken).find({ order: { generation: 'ASC' } });
    const events = await dataSource.getRepository(AuthEvent).find({ order: { id: 'ASC' } });
    return {
      answer,
      signals: host.signals.map((signal) => signal.name),
      session: { ...session, isExchanged: refreshDigest !== before, isSealed: sealedAnswer !== null },
      used: used.map(({ digest, sessionId, ...token }) => ({
        ...token,
        isOfSession: sessionId === id,
        digest: digest.length,
      })),
      events: events.map(({ event, userId: ofUser, ipAddress, userAgent, occurredAt }) => ({
        event,
        isOfUser: ofUser === userId,
        ipAddress,
        userAgent,
        occurredAt,
      })),
      access: accessDigest.length,
    };
  }

  it('are exchanged, or refused, alike on every database', async () => {
    await fc.assert(
      fc.asyncProperty(situations, async (situation) => {
        const [first, ...others] = await Promise.all(hosts.map((host) => refreshed(host, situation)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: 100 },
    );
  }, 120_000);
});
