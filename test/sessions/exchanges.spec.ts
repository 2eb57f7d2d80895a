import { sha256 } from '../../libs/auth/src/base/random';
import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { AuthEvent, AuthSession, AuthUser, type AuthModuleOptions, type TokenPair } from 'nestjs-session-auth';
import { Random } from '../../libs/auth/src/base/random';
import { networkOf } from '../../libs/auth/src/history/event-log';
import { decideRefresh, type RefreshDecision } from '../../libs/auth/src/sessions/refresh';
import { MAX_REPLAYS, type PresentedRefreshToken, type RefreshableSession } from '../../libs/auth/src/sessions/rotate';
import { type TokenTransport } from '../../libs/auth/src/database/entities';
import {
  ACCESS_SECRET_BYTES,
  FAMILY_SECRET_BYTES,
  formatAccessToken,
  formatRefreshToken,
  parseRefreshToken,
  REFRESH_SECRET_BYTES,
} from '../../libs/auth/src/tokens/tokens';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../libs/auth/src/options/auth-options';
import { graceSecondsFor } from '../../libs/auth/src/tokens/tokens';
import { TokenIssuer } from '../../libs/auth/src/tokens/tokens';
import { refreshWithCookies } from '../support/cookie-refresh';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { DrivenClock, HOUR, MINUTE, SECOND } from '../support/driven-clock';
import { TestApplication } from '../support/test-application';

const NOW = new DrivenClock().now();
const IDLE = HOUR;
const ABSOLUTE = 2 * HOUR;
const ACCESS_TTL = 15 * MINUTE;
const REFRESH_TTL = 50 * MINUTE;
const GRACE = 30 * SECOND;
/** The default grace period for cookies. */
const COOKIE_GRACE = 10 * SECOND;
const GENERATION = 1_000;
const HOME = '192.0.2.1';

const LIMITS: AuthModuleOptions = {
  idleTimeoutSeconds: IDLE / SECOND,
  absoluteTimeoutSeconds: ABSOLUTE / SECOND,
  accessTokenTtlSeconds: ACCESS_TTL / SECOND,
  refreshTokenTtlSeconds: REFRESH_TTL / SECOND,
};

/** Generates an instant that is usually far after the limit, and otherwise within two milliseconds of the limit. */
const limit = (instant: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(instant + 10 * HOUR) },
    { weight: 1, arbitrary: fc.integer({ min: instant - 2, max: instant + 2 }) },
  );
const mostly = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

/** A stored session with arbitrary limits and clock differences, and the token presented for it. */
const situations = fc.record({
  times: fc.record({
    createdAt: limit(NOW - ABSOLUTE),
    lastActivity: limit(NOW - IDLE),
    idleExpiresAt: limit(NOW),
    absoluteExpiresAt: limit(NOW),
    accessExpiresAt: limit(NOW),
    refreshExpiresAt: limit(NOW),
  }),
  state: mostly('active' as const, 'revoked' as const),
  account: mostly('active' as const, 'disabled' as const, 'deleted' as const),
  isSameFamily: mostly(true, false),
  /** The number of generations by which the presented token is behind the current token. */
  token: fc.constantFrom(
    { isLive: true, behind: 0 },
    { isLive: true, behind: 0 },
    { isLive: true, behind: 0 },
    { isLive: false, behind: 0 },
    { isLive: false, behind: -1 },
    { isLive: false, behind: 1 },
    { isLive: false, behind: 1 },
    { isLive: false, behind: 2 },
    { isLive: false, behind: 900 },
  ),
  /** The access token that is presented together with the refresh token, if the transport sends an access token. */
  accessToken: fc.constantFrom('live' as const, 'live' as const, 'another' as const, 'none' as const),
  refreshedAt: fc.oneof(
    { weight: 2, arbitrary: fc.constant(NOW) },
    { weight: 1, arbitrary: fc.integer({ min: NOW - GRACE - 2, max: NOW - GRACE + 2 }) },
    { weight: 1, arbitrary: fc.integer({ min: NOW - COOKIE_GRACE - 2, max: NOW - COOKIE_GRACE + 2 }) },
  ),
  replay: fc.record({
    isStored: mostly(true, false),
    /** Whether the current pair was derived from the presented token and the stored seed. */
    isGenuine: mostly(true, false),
    until: limit(NOW),
    isSameTransport: mostly(true, false),
    isSameNetwork: fc.boolean(),
    count: mostly(0, MAX_REPLAYS - 1, MAX_REPLAYS, MAX_REPLAYS + 1),
    accessTokenUsed: fc.boolean(),
  }),
});
type Situation = typeof situations extends fc.Arbitrary<infer T> ? T : never;

describe.each(DATABASES)('refreshes on %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  it.each<{ tokens: string; auth: AuthModuleOptions; transport?: TokenTransport; decisions: RefreshDecision[] }>([
    { tokens: 'rotated refresh tokens', auth: {}, decisions: ['rotate', 'reuse', 'refuse'] },
    {
      tokens: 'rotated refresh tokens in cookies',
      auth: {},
      transport: 'cookie',
      decisions: ['rotate', 'unchanged', 'replay', 'reuse', 'refuse'],
    },
    {
      tokens: 'refresh tokens in cookies without a grace period',
      auth: { refreshReuseGraceSeconds: 0 },
      transport: 'cookie',
      decisions: ['rotate', 'reuse', 'refuse'],
    },
    {
      tokens: 'refresh tokens in cookies that are not rotated',
      auth: { rotateRefreshTokens: false },
      transport: 'cookie',
      decisions: ['rotate', 'reuse', 'refuse'],
    },
    {
      tokens: 'refresh tokens with a grace period',
      auth: { refreshReuseGraceSeconds: GRACE / SECOND },
      decisions: ['rotate', 'replay', 'reuse', 'refuse'],
    },
    {
      tokens: 'refresh tokens that are not rotated',
      auth: { rotateRefreshTokens: false },
      decisions: ['rotate', 'reuse', 'refuse'],
    },
  ])(
    'a refresh has the outcome that decideRefresh computes for $tokens',
    async ({ auth, transport = 'bearer', decisions }) => {
      const app = await TestApplication.start({ database, users: [], auth: { ...LIMITS, ...auth } });
      const seen = new Set<RefreshDecision>();
      await fc.assert(
        fc.asyncProperty(situations, async (situation) => {
          const setup = await new Setup(app, situation, transport).store();
          const before = await setup.stored();
          const decision = decideRefresh(setup.found, setup.presented, NOW, setup.graceMs);
          seen.add(decision);
          app.signals.length = 0;

          const outcome = await setup.refresh().catch((error: { code: string }) => error.code);

          const after = await setup.stored();
          const isRefused = !['rotate', 'replay', 'unchanged'].includes(decision);
          expect(typeof outcome === 'string' ? outcome : 'a pair').toBe(isRefused ? 'invalid_refresh_token' : 'a pair');
          if (decision === 'rotate') expect(after).toEqual({ ...before, ...setup.rotated(outcome as TokenPair) });
          else expect(after).toEqual({ ...before, ...setup.changesBy(decision) });
          if (!isRefused) expect(setup.expiriesOf(outcome as TokenPair)).toEqual(setup.storedExpiries(after));
          if (decision === 'replay' || decision === 'unchanged') {
            expect(setup.digestsOf(outcome as TokenPair)).toEqual(setup.liveDigests);
          }
          expect(await setup.events()).toEqual(EVENTS[decision]);
          const signals = app.signals.map((signal) => signal.name).filter((name) => name !== 'lost_commits_suspected');
          expect(signals).toEqual(SIGNALS[decision]);
          const behind = { generationsBehind: situation.token.behind, lastRefreshAt: new Date(situation.refreshedAt) };
          expect(app.sent('token_reuse_detected').map(({ reuse }) => reuse)).toEqual(
            decision === 'reuse' ? [behind] : [],
          );
        }),
        // Enough runs for each decision to occur.
        { numRuns: transport === 'cookie' ? 300 : 150 },
      );
      expect([...seen]).toEqual(expect.arrayContaining(decisions));
      await app.close();
    },
    240_000,
  );
});

const EVENTS: Readonly<Record<RefreshDecision, string[]>> = {
  rotate: ['token_refresh'],
  unchanged: [],
  replay: ['token_refresh, replayed'],
  reuse: ['token_reuse'],
  refuse: [],
  newer_than_database: [],
  session_expired: [],
  account_inactive: ['forced_logout'],
};
const SIGNALS: Readonly<Record<RefreshDecision, string[]>> = {
  rotate: [],
  unchanged: [],
  replay: [],
  reuse: ['token_reuse_detected', 'user_logged_out'],
  refuse: [],
  // The test ignores `lost_commits_suspected`, which is emitted at most once a minute.
  newer_than_database: [],
  session_expired: ['user_logged_out'],
  account_inactive: ['user_logged_out'],
};

/** Converts a situation to its rows in the database and to the session that `decideRefresh` receives. */
class Setup {
  readonly token: string;
  readonly presented: PresentedRefreshToken;
  readonly liveDigests: { readonly accessDigest: string; readonly refreshDigest: string };
  readonly graceMs: number;
  private readonly sessionId = randomUUID();
  private readonly seed: string;
  private readonly issuer: TokenIssuer;
  private readonly options: ResolvedAuthOptions;
  private readonly accessToken: string | null;
  private userId = '';

  constructor(
    private readonly app: TestApplication,
    private readonly situation: Situation,
    private readonly transport: TokenTransport,
  ) {
    this.options = app.nest.get(AUTH_OPTIONS);
    this.graceMs = graceSecondsFor(this.options, transport) * SECOND;
    this.issuer = new TokenIssuer(new Random(), app.nest.get(AUTH_OPTIONS));
    const { token, replay } = situation;
    const generation = GENERATION - token.behind;
    const familySecret = randomBytes(FAMILY_SECRET_BYTES);
    this.token = formatRefreshToken(
      { sessionId: this.sessionId, familySecret, generation },
      randomBytes(REFRESH_SECRET_BYTES),
    );
    const claims = parseRefreshToken(this.token)!;
    this.seed = randomBytes(16).toString('base64url');
    const digest = sha256(this.token);
    this.presented = {
      sessionId: this.sessionId,
      digest,
      familyDigest: sha256(familySecret),
      generation,
      transport,
      accessDigest: null,
      networkDigest: this.issuer.networkDigest(this.token, networkOf(HOME)),
      successor: (seed) => this.issuer.deriveSuccessor(this.token, claims, seed),
    };
    const liveSeed = replay.isGenuine ? this.seed : randomBytes(16).toString('base64url');
    const { tokens, digests: derived } = this.issuer.deriveSuccessor(this.token, claims, liveSeed);
    this.liveDigests = token.isLive ? { ...derived, refreshDigest: digest } : derived;
    if (transport === 'bearer' || situation.accessToken === 'none') this.accessToken = null;
    else if (situation.accessToken === 'live') this.accessToken = tokens.accessToken;
    else this.accessToken = formatAccessToken(this.sessionId, randomBytes(ACCESS_SECRET_BYTES));
    const accessDigest = this.accessToken === null ? null : sha256(this.accessToken);
    this.presented = { ...this.presented, accessDigest };
  }

  /** Returns the session that `decideRefresh` receives. */
  get found(): RefreshableSession {
    const { times, state, account, refreshedAt } = this.situation;
    const { createdAt, lastActivity, idleExpiresAt } = times;
    const expiresAt = Math.min(idleExpiresAt, lastActivity + IDLE, this.absoluteEnd);
    const row = this.row();
    return {
      session: { ...DEVICE, id: this.sessionId, userId: this.userId, state, createdAt, lastActivity, expiresAt },
      account,
      ...this.liveDigests,
      familyDigest: row.familyDigest,
      generation: GENERATION,
      accessExpiresAt: times.accessExpiresAt,
      refreshExpiresAt: times.refreshExpiresAt,
      absoluteEnd: this.absoluteEnd,
      refreshedAt,
      lastNetwork: null,
      replay: row.replaySeed === null ? null : this.replayWindow(),
    };
  }

  async store(): Promise<this> {
    const { dataSource, auth } = this.app;
    const { account } = this.situation;
    const user = await auth.createUser({ username: randomUUID(), password: null });
    this.userId = String(user.id);
    const users = dataSource.getRepository(AuthUser);
    if (account === 'disabled') await users.update({ id: this.userId }, { active: false });
    if (account === 'deleted') await users.delete({ id: this.userId });
    await dataSource.getRepository(AuthSession).insert({ ...this.row(), userId: this.userId });
    return this;
  }

  refresh(): Promise<TokenPair> {
    const client = { ipAddress: HOME };
    if (this.transport === 'bearer') return this.app.auth.refresh(this.token, client);
    const presented = { refreshToken: this.token, accessToken: this.accessToken };
    return refreshWithCookies(this.app, presented, client);
  }

  stored(): Promise<AuthSession> {
    return this.app.dataSource.getRepository(AuthSession).findOneByOrFail({ id: this.sessionId });
  }

  async events(): Promise<string[]> {
    const rows = await this.app.dataSource.getRepository(AuthEvent).findBy({ userId: this.userId });
    return rows.map(({ event, extra }) => (extra['replayed'] === true ? `${event}, replayed` : event));
  }

  expiriesOf({ accessTokenExpiresAt, refreshTokenExpiresAt }: TokenPair): object {
    return [accessTokenExpiresAt.getTime(), refreshTokenExpiresAt.getTime()];
  }

  /** Returns the stored expiries, limited by the absolute timeout, which may have been lowered since then. */
  storedExpiries({ accessExpiresAt, refreshExpiresAt }: AuthSession): object {
    return [Math.min(accessExpiresAt, this.absoluteEnd), Math.min(refreshExpiresAt, this.absoluteEnd)];
  }

  digestsOf({ accessToken, refreshToken }: TokenPair): object {
    return {
      accessDigest: sha256(accessToken),
      refreshDigest: sha256(refreshToken),
    };
  }

  /** Returns the expected values of the columns that a rotation changes. */
  rotated(pair: TokenPair): object {
    const { lastActivity, idleExpiresAt } = this.situation.times;
    const last = Math.max(lastActivity, NOW);
    const hasGrace = this.graceMs > 0;
    expect(pair.refreshToken === this.token).toBe(!this.options.rotateRefreshTokens);
    return {
      ...this.digestsOf(pair),
      accessExpiresAt: Math.min(NOW + ACCESS_TTL, this.absoluteEnd),
      refreshExpiresAt: Math.min(NOW + REFRESH_TTL, this.absoluteEnd),
      generation: GENERATION + (this.options.rotateRefreshTokens ? 1 : 0),
      lastNetwork: HOME,
      refreshedAt: NOW,
      lastActivity: last,
      idleExpiresAt: last + Math.min(idleExpiresAt - lastActivity, IDLE),
      replaySeed: hasGrace ? expect.stringMatching(/^[\w-]{22}$/) : null,
      replayUntil: hasGrace ? NOW + this.graceMs : null,
      replayTransport: hasGrace ? this.transport : null,
      replayNetworkDigest: hasGrace ? this.presented.networkDigest : null,
      replayCount: 0,
      firstUsedAt: null,
    };
  }

  /** Returns the expected values of the columns that a decision other than a rotation changes. */
  changesBy(decision: RefreshDecision): object {
    const { account, replay } = this.situation;
    const ended = (state: string, endReason: string): object => ({
      state,
      endReason,
      endedAt: NOW,
      checkAt: expect.any(Number),
      replaySeed: null,
    });
    switch (decision) {
      case 'replay':
        return { replayCount: replay.count + 1 };
      case 'reuse':
        return ended('revoked', 'token_reuse');
      case 'session_expired':
        return ended('expired', 'expired');
      case 'account_inactive':
        return ended('revoked', `user_${account}`);
      default:
        return {};
    }
  }

  private get absoluteEnd(): number {
    const { createdAt, absoluteExpiresAt } = this.situation.times;
    return Math.min(absoluteExpiresAt, createdAt + ABSOLUTE);
  }

  private replayWindow() {
    const { until, count, accessTokenUsed } = this.situation.replay;
    const transport = this.row().replayTransport;
    return { seed: this.seed, until, transport, networkDigest: this.row().replayNetworkDigest, count, accessTokenUsed };
  }

  private row() {
    const { times, state, token, isSameFamily, refreshedAt, replay } = this.situation;
    return {
      ...DEVICE,
      ...times,
      ...this.liveDigests,
      id: this.sessionId,
      state,
      endReason: state === 'active' ? null : ('logout_all' as const),
      endedAt: state === 'active' ? null : NOW,
      checkAt: NOW,
      loginNetwork: '',
      familyDigest: isSameFamily || token.isLive ? this.presented.familyDigest : sha256('another family'),
      generation: GENERATION,
      refreshedAt,
      replaySeed: replay.isStored ? this.seed : null,
      replayUntil: replay.until,
      replayTransport: replay.isSameTransport ? this.transport : OTHER_TRANSPORT[this.transport],
      replayNetworkDigest: replay.isSameNetwork
        ? this.presented.networkDigest
        : this.issuer.networkDigest(this.token, 'elsewhere'),
      replayCount: replay.count,
      firstUsedAt: replay.accessTokenUsed ? NOW : null,
    };
  }
}

const OTHER_TRANSPORT = { bearer: 'cookie', cookie: 'bearer' } as const;

const DEVICE = {
  ipAddress: null,
  deviceType: 'other' as const,
  osFamily: 'Other',
  browserFamily: 'Other',
  deviceName: 'Other',
  authenticatedAt: NOW,
  methods: '{}',
};
