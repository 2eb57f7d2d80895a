import { Inject, Injectable } from '@nestjs/common';
import type { SessionData } from '../adapters/login-policy';
import { isInRealm } from '../adapters/realm';
import type { ClientInfo } from '../adapters/second-factor';
import { NO_ROLES, type RequestUser, type UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { invalidAccessToken, standardError } from '../base/errors';
import { InFlight } from '../base/in-flight';
import { sha256 } from '../base/random';
import { Metrics } from '../base/telemetry';
import { BatchingLoader } from '../database/batching-loader';
import { Database } from '../database/database';
import { least } from '../database/dialect';
import { LookupById } from '../database/lookup-by-id';
import { columns, StatementFactory } from '../database/statements';
import type { Row } from '../database/transaction';
import { ClientInspector } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { idInToken, parseRefreshToken, type RefreshTokenClaims } from '../tokens/tokens';
import { type AccountSql, Users } from '../users/users';
import { Activity } from './activity';
import { EndSessions, NO_CLIENT } from './end-sessions';
import {
  accountFromRow,
  isExpired,
  PROOF_COLUMNS,
  proofsFromRow,
  provenMethods,
  realmsFromRow,
  sessionFromRow,
  type SessionRecord,
  SessionSql,
  type StoredActor,
  type StoredProofs,
} from './session';

/** The session of a request as it was at authentication. */
export interface CurrentSession {
  readonly id: string;
  readonly userId: string;
  readonly accessDigest: string;
}

/** The user and the session that a call is authenticated as. */
export interface AuthPrincipal {
  readonly userId: UserId;
  readonly sessionId: string;
  /**
   * When the user last proved their identity: at login, or by `reauthenticate`, `confirmIdentity` or `changePassword`. If
   * an administrator acts as the user, 1970-01-01T00:00:00Z.
   */
  readonly authenticatedAt: Date;
  /**
   * The methods by which the user was identified, such as `pwd` and `otp` (RFC 8176) or your own names, each with the
   * time of its last proof.
   */
  readonly methods: Readonly<Record<string, Date>>;
  /** The data that your application keeps on the session. Default: an empty object. */
  readonly data: Readonly<Partial<SessionData>>;
  /** The roles of the user. An empty list if roles are not used. */
  readonly roles: readonly string[];
  /** The realm of the session, or null if realms are not used. */
  readonly realm: string | null;
  /** The administrator who acts as the user, with their session and reason, or null. */
  readonly actor: { readonly userId: UserId; readonly sessionId: string; readonly reason: string } | null;
}

/** A principal that the library has authenticated. Only private fields contain secrets, so that no log shows them. */
export class SessionPrincipal implements AuthPrincipal {
  readonly #found: StoredProofs & { readonly accessDigest?: string };
  readonly #user: RequestUser | null;
  #methods: Readonly<Record<string, Date>> | undefined;
  #data: Readonly<Partial<SessionData>> | undefined;

  /** @internal */
  constructor(
    readonly userId: UserId,
    readonly sessionId: string,
    readonly authenticatedAt: Date,
    found: StoredProofs & { readonly accessDigest?: string },
    user: RequestUser | null = null,
    readonly roles = NO_ROLES,
    readonly realm: string | null = null,
    readonly actor: AuthPrincipal['actor'] = null,
  ) {
    this.#found = found;
    this.#user = user;
  }

  // The methods and the data are parsed on demand, because most requests need neither.
  get methods(): Readonly<Record<string, Date>> {
    return (this.#methods ??= provenMethods(this.#found.methods));
  }

  get data(): Readonly<Partial<SessionData>> {
    return (this.#data ??= JSON.parse(this.#found.data ?? '{}') as Partial<SessionData>);
  }

  /** Returns the value for `request.user`, or null if the library has not read the user. */
  static requestUserOf(this: void, principal: AuthPrincipal): RequestUser | null {
    return #user in principal ? principal.#user : null;
  }

  /** Returns the principal's session. @throws AuthError `access_token_invalid` without an access token; `session_required` */
  static currentSessionOf(this: void, principal: AuthPrincipal): CurrentSession {
    assertSession(principal);
    const accessDigest = #found in principal ? principal.#found.accessDigest : undefined;
    if (accessDigest === undefined) throw invalidAccessToken();
    return { id: principal.sessionId, userId: String(principal.userId), accessDigest };
  }
}

export const { currentSessionOf, requestUserOf } = SessionPrincipal;

/** @throws AuthError `session_required` if the call has no session, but an API key or a token of an earlier system */
export function assertSession(principal: { readonly userId: UserId }): asserts principal is AuthPrincipal {
  if (!('sessionId' in principal)) throw standardError('session_required');
}

/** @throws AuthError `not_allowed_while_impersonating` if an administrator acts as the user */
export function assertNotImpersonating({ actor }: { readonly actor?: unknown }): void {
  if (actor) throw standardError('not_allowed_while_impersonating');
}

/** Marks, also in copies, a client whose token is in a cookie. The token of an impersonation is refused there. */
const FROM_COOKIE = Symbol('nestjs-session-auth:from-cookie');

export function withTokenInCookie(client: ClientInfo): ClientInfo {
  return Object.assign({ ...client }, { [FROM_COOKIE]: true });
}

type Impersonable = Pick<SessionRecord, 'id' | 'userId' | 'actor'>;

/** A session whose state is `active`, although it may have expired. */
export type ActiveSession = Readonly<ReturnType<typeof activeFromRow>>;

function activeFromRow(row: Row) {
  return {
    session: sessionFromRow(row),
    userId: String(row['user_id']),
    /** Null if only the user store can read the status. */
    account: accountFromRow(row),
    familyDigest: String(row['family_digest']),
    ...proofsFromRow(row),
    ...realmsFromRow(row),
  };
}

/** What a guarded request reads of an active session. */
function foundFromRow(row: Row, users: AccountSql | null) {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    accessDigest: String(row['access_digest']),
    /** When the access token or the session expires, whichever is earlier. */
    validUntil: Number(row['valid_until']),
    lastActivity: Number(row['last_activity']),
    authenticatedAt: Number(row['authenticated_at']),
    /** The end of the grace period, or 0 if there is none or the first use of the access token is stored. */
    replayUntil: Number(row['replay_until'] ?? 0),
    account: accountFromRow(row),
    actor: (row['actor'] ?? null) as string | null,
    /** Returns a new object for `request.user`, or null if the statement does not read the user. */
    readUser: (): RequestUser | null => users?.fromRow(row) ?? null,
    realm: (row['realm'] ?? null) as string | null,
    ...proofsFromRow(row),
  };
}

type FoundByAccessToken = ReturnType<typeof foundFromRow>;

/** The maximum number of tokens of each kind that are looked up for a request, which can repeat a cookie many times. */
export const MAX_TOKENS = 10;

function claimsOf(refreshTokens: readonly string[]): readonly RefreshTokenClaims[] {
  return [...new Set(refreshTokens)].flatMap((token) => parseRefreshToken(token) ?? []).slice(0, MAX_TOKENS);
}

/** Authenticates access tokens by a lookup in the database, so that a revocation takes effect at the next request. */
@Injectable()
export class Authenticate {
  /** Requests that arrive while a read is in flight wait briefly and share further reads. */
  private readonly loader: LookupById<FoundByAccessToken>;
  /** A GraphQL operation with many aliases, or many messages of a socket, would otherwise cause as many calls. */
  private readonly firstUses = new InFlight<boolean>();
  private readonly accounts = new InFlight<Awaited<ReturnType<Users['accountOf']>>>();
  /** If the end of a session cannot be stored, `Database` logs it, and the call is refused all the same. */
  private readonly ends = new InFlight<unknown>();
  /** The sessions of administrators who act as users. */
  private readonly administrators = new BatchingLoader<ActiveSession>(async (ids) => {
    const rows = await this.database.read(this.activeByIds.with({ ids }));
    return new Map(rows.map((row) => [String(row['id']), activeFromRow(row)]));
  });
  private readonly markUsed;
  private readonly activeByIds;
  private readonly activityIntervalMs: number;
  private readonly allowsImpersonation: boolean;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly users: Users,
    private readonly endSessions: EndSessions,
    private readonly activity: Activity,
    private readonly clients: ClientInspector,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    @Inject(AUTH_OPTIONS) { activityIntervalSeconds, realm, impersonationPolicy }: ResolvedAuthOptions,
  ) {
    this.activityIntervalMs = activityIntervalSeconds * 1000;
    this.allowsImpersonation = impersonationPolicy !== undefined;
    const user = users.sql;
    const properties = `id userId accessDigest lastActivity authenticatedAt ${PROOF_COLUMNS}${realm ? ' realm' : ''}`;
    // Sessions that need an option are refused without it.
    const ordinary = `${impersonationPolicy ? '' : 'AND s.{session.actor} IS NULL'} ${sql.withoutRealm}`;
    const actor = impersonationPolicy ? ', s.{session.actor} AS actor' : '';
    this.loader = new LookupById(
      database,
      statements,
      (condition) =>
        `SELECT ${columns('session', properties, 's.')},
           ${least(statements.dialect, 's.{session.accessExpiresAt}', sql.expiresAt)} AS valid_until,
           CASE WHEN s.{session.firstUsedAt} IS NULL THEN s.{session.replayUntil} END AS replay_until,
           ${user?.columns ?? 'NULL AS account'}${actor}
         FROM {session} s ${user?.join ?? ''} WHERE s.{session.id} ${condition} ${ordinary} AND s.{session.state} = 'active'`,
      (row) => foundFromRow(row, user),
      (size) => metrics.record('session_auth.lookup.batch_size', size),
    );
    this.markUsed = statements.prepared(
      `UPDATE {session} SET {session.firstUsedAt} = :now
       WHERE {session.id} = :id AND {session.accessDigest} = :accessDigest AND {session.state} = 'active'
         AND {session.firstUsedAt} IS NULL`,
    );
    this.activeByIds = statements.statement(
      `SELECT ${sql.columnsWithAccount}, ${columns('session', 'familyDigest data', 's.')}${sql.realmColumns}
       FROM {session} s WHERE s.{session.id} IN (:ids...) AND s.{session.state} = 'active' ${sql.withoutRealm}`,
    );
  }

  /**
   * Returns the principal of a valid access token of an active user, or null.
   * @param realm the realm of the call, in the form of `Client.realm`. Default: the one that `info` names
   * @param isReceived false if the client has not received the token, so that the call is not its first use
   */
  authenticate(
    accessToken: string,
    info: ClientInfo,
    realm = this.clients.realmIn(info),
    isReceived = true,
  ): Promise<AuthPrincipal | null> {
    const find = async (): Promise<AuthPrincipal | null> => {
      const id = idInToken('access', accessToken);
      const found = id === null ? null : await this.loader.get(id);
      const now = this.clock.now();
      if (!found || found.validUntil <= now || sha256(accessToken) !== found.accessDigest) return null;
      // The user's history does not show the address of an administrator.
      const account = await this.accountInRealm(found, found.actor === null ? info : {}, realm);
      if (!account || !(await this.hasLiveActor(found, info))) return null;
      if (isReceived && found.replayUntil > now) {
        const store = (): Promise<boolean> => this.storeFirstUse(found, now);
        if (!(await this.firstUses.run(found.accessDigest, store))) return null;
      }
      if (now - found.lastActivity >= this.activityIntervalMs) await this.activity.record(found.id, now);
      const { user } = account;
      const [userId, authenticatedAt] = [this.users.parseId(found.userId), new Date(found.authenticatedAt)];
      const [roles, actor] = [this.users.rolesOf(user), this.actorOf(found.actor)];
      return new SessionPrincipal(userId, found.id, authenticatedAt, found, user, roles, realm, actor);
    };
    return this.metrics.measure('session_auth.lookup.duration', find, (found) =>
      found ? undefined : { 'error.type': 'access_token_invalid' },
    );
  }

  /** Returns null if the session or key, or its user, belongs to another realm, or the user is not active. */
  async accountInRealm(
    found: Pick<FoundByAccessToken, 'userId' | 'account' | 'realm' | 'readUser'>,
    info: ClientInfo,
    realm: string | null,
  ): Promise<{ readonly user: RequestUser | null } | null> {
    // A call of another realm must not end the sessions of an inactive user.
    const account = isInRealm(found, realm) ? await this.accountIfActive(found, info) : null;
    if (!account) return null;
    const user = account.user ?? found.readUser();
    return isInRealm(user, realm) ? { user } : null;
  }

  private actorOf(stored: string | null): AuthPrincipal['actor'] {
    if (stored === null) return null;
    const { userId, sessionId, reason } = JSON.parse(stored) as StoredActor;
    return { userId: this.users.parseId(userId), sessionId, reason };
  }

  /** Ends an impersonation whose administrator's session is not live. Refuses that, cookies, and all without the option. */
  private async hasLiveActor({ id, userId, actor }: Impersonable, info: ClientInfo = {}): Promise<boolean> {
    if (actor === null) return true;
    if (!this.allowsImpersonation || FROM_COOKIE in info) return false;
    const { sessionId, authenticatedAt } = JSON.parse(actor) as StoredActor;
    const found = await this.administrators.get(sessionId);
    const isLive = found?.session.authenticatedAt === authenticatedAt && !isExpired(found.session, this.clock.now());
    const account = isLive && (await this.accountIfActive(found, {}));
    // An administrator who was moved to another realm could not use the session either.
    if (account && isInRealm(account.user ?? { realm: found.userRealm }, found.realm)) return true;
    const end = () =>
      this.endSessions.end({ userId, sessionId: id, reason: 'actor_session_ended' }, { client: NO_CLIENT, tx: null });
    await this.ends.run(`actor ${id}`, end).catch(() => undefined);
    return false;
  }

  /** Returns the sessions without those of administrators whose own session is no longer live, which end. */
  async withLiveActors<T extends Impersonable>(sessions: readonly T[]): Promise<T[]> {
    const areLive = await Promise.all(sessions.map((session) => this.hasLiveActor(session)));
    return sessions.filter((_, index) => areLive[index]);
  }

  /** Stores the first use of a token within the grace period. Returns whether the token is still valid. */
  private async storeFirstUse({ id, accessDigest }: FoundByAccessToken, now: number): Promise<boolean> {
    const { affected } = await this.database.run(null, this.markUsed.with({ id, accessDigest, now }));
    // If nothing changed, another request has stored the first use, or the token is no longer valid.
    return affected === 1 || (await this.loader.get(id))?.accessDigest === accessDigest;
  }

  /** Accepts at most 1,000 ids. */
  async findActive(ids: readonly string[]): Promise<readonly ActiveSession[]> {
    const { rows } = await this.database.run(null, this.activeByIds.with({ ids }));
    const found = rows.map(activeFromRow);
    const live = new Set(await this.withLiveActors(found.map(({ session }) => session)));
    return found.filter(({ session }) => live.has(session));
  }

  /** Does not prove that the refresh tokens are genuine. The result only decides whether cookies are cleared. */
  async namesActiveSession(refreshTokens: readonly string[]): Promise<boolean> {
    return (await this.findLive(claimsOf(refreshTokens))).length > 0;
  }

  /**
   * Returns the principal of the first refresh token of the current token family of an active session, or null. Accepts
   * used tokens, because only a logout by cookies calls this method. Presenting them here is not reuse.
   */
  async byRefreshTokens(refreshTokens: readonly string[], info: ClientInfo): Promise<AuthPrincipal | null> {
    const claims = claimsOf(refreshTokens);
    const realm = this.clients.realmIn(info);
    const live = await this.findLive(claims);
    for (const { sessionId, familySecret } of claims) {
      const found = live.find(({ session }) => session.id === sessionId);
      if (found?.familyDigest !== sha256(familySecret) || !isInRealm(found, realm)) continue;
      const { id, userId, authenticatedAt } = found.session;
      const account = await this.accountIfActive(found, info);
      if (!account || !isInRealm(account.user ?? { realm: found.userRealm }, realm)) continue;
      const provedAt = new Date(authenticatedAt);
      return new SessionPrincipal(this.users.parseId(userId), id, provedAt, found, null, NO_ROLES, realm);
    }
    return null;
  }

  private async findLive(claims: readonly RefreshTokenClaims[]): Promise<readonly ActiveSession[]> {
    if (claims.length === 0) return [];
    const found = await this.findActive(claims.map(({ sessionId }) => sessionId));
    return found.filter(({ session }) => !isExpired(session, this.clock.now()));
  }

  /**
   * Returns null and ends all sessions and API keys of the user if the user is not active. Otherwise returns the user if
   * the account was read from the user store.
   */
  private async accountIfActive(found: Pick<FoundByAccessToken, 'userId' | 'account'>, info: ClientInfo) {
    const { userId, account } = found;
    // Only calls that share the read of the session share that of the user, so that none receives an earlier status.
    const read = (): ReturnType<Users['accountOf']> => this.accounts.run(found, () => this.users.accountOf(userId));
    const { status, user } = account === null ? await read() : { status: account, user: null };
    // A copy, because the handler of a request may change it.
    if (status === 'active') return { user: user && { ...user } };
    const end = (): Promise<void> =>
      this.endSessions.endForInactiveAccount(userId, status, { client: this.clients.inspect(info), tx: null });
    await this.ends.run(`${status} ${userId}`, end).catch(() => undefined);
    return null;
  }
}
