import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import type { RequestUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { measureDuration, Metrics } from '../base/telemetry';
import { sha256 } from '../base/random';
import { ClientInspector } from '../history/client';
import { accessTokenSessionId, parseRefreshToken } from '../tokens/tokens';
import { Users } from '../users/users';
import { Activity } from './activity';
import { EndSessions } from './end-sessions';
import { type AccountOfSession, LookUp, type SessionWithAccessToken } from './look-up';
import { provenMethods, readData, type SessionData, type StoredProofs } from './proofs';
import { isExpired } from './session';

/** The metric attributes of a lookup with an invalid access token. */
const REFUSED = { 'error.type': 'access_token_invalid' } as const;

/** The session of a request as it was at authentication, with the digest of the access token. */
export interface CurrentSession {
  readonly id: string;
  readonly userId: string;
  readonly accessDigest: string;
  readonly methods: string;
}

/** The user and the session that a call is authenticated as. */
export interface AuthPrincipal {
  readonly userId: UserId;
  readonly sessionId: string;
  /**
   * When the user last proved their identity: at login, or later by `reauthenticate`,
   * `confirmIdentity` or `changePassword`.
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
  /** The administrator who acts as the user, or null. */
  readonly actor: { readonly userId: UserId; readonly sessionId: string; readonly reason: string } | null;
}

const NO_ROLES: readonly string[] = Object.freeze([]);

/** A principal that the library has authenticated, with the digest of its access token, if any. */
export class SessionPrincipal implements AuthPrincipal {
  readonly roles = NO_ROLES;
  readonly realm = null;
  readonly actor = null;
  readonly #stored: StoredProofs;
  readonly #accessDigest: string | null;
  readonly #user: RequestUser | null;
  #methods: Readonly<Record<string, Date>> | undefined;
  #data: Readonly<Partial<SessionData>> | undefined;

  /** @internal */
  constructor(
    readonly userId: UserId,
    readonly sessionId: string,
    readonly authenticatedAt: Date,
    stored: StoredProofs,
    accessDigest: string | null,
    user: RequestUser | null,
  ) {
    this.#stored = stored;
    this.#accessDigest = accessDigest;
    this.#user = user;
  }

  /**
   * Returns the value for `request.user`. Returns null if the user was not read, or if the principal is not an
   * instance of this class.
   */
  static requestUserOf(this: void, principal: AuthPrincipal): RequestUser | null {
    return #user in principal ? principal.#user : null;
  }

  // The methods and the data are parsed on demand, because most requests need neither.
  get methods(): Readonly<Record<string, Date>> {
    return (this.#methods ??= provenMethods(this.#stored.methods));
  }

  get data(): Readonly<Partial<SessionData>> {
    return (this.#data ??= readData(this.#stored.data));
  }

  /**
   * Returns the principal's session and the digest of its access token, or null if the principal was not
   * authenticated by an access token.
   */
  static currentSessionOf(this: void, principal: AuthPrincipal): CurrentSession | null {
    if (!(#accessDigest in principal) || principal.#accessDigest === null) return null;
    const { sessionId: id, userId } = principal;
    const { methods } = principal.#stored;
    return { id, userId: String(userId), accessDigest: principal.#accessDigest, methods };
  }
}

export const { currentSessionOf, requestUserOf } = SessionPrincipal;

/**
 * The maximum number of tokens of each kind that are looked up for one request. The number is bounded because a
 * request can contain any number of cookies with the same name.
 */
export const MAX_TOKENS = 10;

/** Authenticates access tokens by a lookup in the database, so that a revocation takes effect at the next request. */
@Injectable()
export class Authenticate {
  constructor(
    private readonly lookUp: LookUp,
    private readonly users: Users,
    private readonly endSessions: EndSessions,
    private readonly activity: Activity,
    private readonly clients: ClientInspector,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Returns the principal of a valid access token of an active user, or null.
   * @param isReceived whether the client has received the token. If false, the call does not count as the first use of
   * the token. Default: true
   */
  authenticate(accessToken: string, info: ClientInfo, isReceived = true): Promise<AuthPrincipal | null> {
    const find = (): Promise<AuthPrincipal | null> => this.find(accessToken, info, isReceived);
    return measureDuration(this.metrics, 'session_auth.lookup.duration', find, (found) =>
      found ? undefined : REFUSED,
    );
  }

  private async find(accessToken: string, info: ClientInfo, isReceived: boolean): Promise<AuthPrincipal | null> {
    const id = typeof accessToken === 'string' ? accessTokenSessionId(accessToken) : null;
    const found = id === null ? null : await this.lookUp.find(id);
    const now = this.clock.now();
    if (!found || found.validUntil <= now || sha256(accessToken) !== found.accessDigest) return null;
    const account = await this.accountIfActive(found, info);
    if (!account) return null;
    if (isReceived && found.replayUntil > now && !(await this.recordFirstUse(found, now))) return null;
    if (this.activity.isDue(found, now)) await this.activity.record(found.id, now);
    return this.principalOf(found, found.accessDigest, account.user);
  }

  /**
   * Returns whether the text is a refresh token that contains the id of an active session. The result does not prove
   * that the token is genuine, and only decides whether cookies are cleared.
   */
  async namesActiveSession(refreshToken: string): Promise<boolean> {
    const claims = parseRefreshToken(refreshToken);
    const [found] = claims ? await this.lookUp.findActive([claims.sessionId]) : [];
    return found !== undefined && !isExpired(found.session, this.clock.now());
  }

  /**
   * Returns the principal of the first refresh token that belongs to the current token family of an active session,
   * or null. Only a logout by cookies calls this method. It accepts used tokens, because a logout issues no tokens, and
   * does not count as reuse. At most 10 well-formed tokens are looked up.
   */
  async byRefreshTokens(refreshTokens: readonly string[], info: ClientInfo): Promise<AuthPrincipal | null> {
    const wellFormed = [...new Set(refreshTokens)].flatMap((token) => parseRefreshToken(token) ?? []);
    for (const { sessionId, familySecret } of wellFormed.slice(0, MAX_TOKENS)) {
      const found = await this.lookUp.findFamily(sessionId);
      if (found?.familyDigest !== sha256(familySecret)) continue;
      const { session, account, methods, data } = found;
      if (isExpired(session, this.clock.now())) continue;
      const { id, userId, authenticatedAt } = session;
      if (!(await this.accountIfActive({ userId, account }, info))) continue;
      return this.principalOf({ id, userId, authenticatedAt, methods, data }, null, null);
    }
    return null;
  }

  /**
   * Returns the account of a session, or null if its user is not active. In that case, also ends all sessions of the
   * user. Queries the user store if the lookup has not read the account.
   */
  private async accountIfActive(found: AccountOfSession, info: ClientInfo): Promise<ActiveAccount | null> {
    const { userId, account: statusRead } = found;
    const queried = statusRead === null ? await this.users.accountOf(userId) : null;
    const status = queried?.status ?? statusRead!;
    if (status === 'active') return queried ?? { user: found.readUser?.() ?? null };
    await this.endSessions.endForInactiveAccount(userId, status, { client: this.clients.inspect(info), tx: null });
    return null;
  }

  private principalOf(
    found: Pick<SessionWithAccessToken, 'id' | 'userId' | 'authenticatedAt'> & StoredProofs,
    accessDigest: string | null,
    user: RequestUser | null,
  ): AuthPrincipal {
    const authenticatedAt = new Date(found.authenticatedAt);
    const userId = this.users.parseId(found.userId);
    return new SessionPrincipal(userId, found.id, authenticatedAt, found, accessDigest, user);
  }

  /** Records the first use of the token within the grace period. Returns whether the token is still valid. */
  private async recordFirstUse({ id, accessDigest }: SessionWithAccessToken, now: number): Promise<boolean> {
    if (await this.lookUp.markFirstUse(id, accessDigest, now)) return true;
    return (await this.lookUp.find(id))?.accessDigest === accessDigest;
  }
}

/** An active account. */
interface ActiveAccount {
  /** The value for `request.user`, or null if the user was not read. */
  readonly user: RequestUser | null;
}
