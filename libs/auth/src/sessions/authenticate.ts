import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import type { RequestUser, UserId } from '../adapters/user-store';
import { measureDuration, Metrics } from '../base/telemetry';
import type { SessionInfo } from '../history/signals';
import { accessTokenSessionId, parseRefreshToken, TokenIssuer, type TokenPair } from '../tokens/tokens';
import { ActivityRecorder } from './activity-recorder';
import { SessionLifecycle } from './lifecycle';
import { SessionStore, type SessionWithAccessToken } from './look-up';
import { provenMethods, readData, type SessionData, type StoredProofs } from './proofs';
import { type CookieTokens, Refresh } from './refresh';
import { isExpired, toSessionInfo } from './session';

/** The session of a request as it was at authentication, with the digest of the access token. */
export interface CurrentSession {
  readonly id: string;
  readonly userId: string;
  readonly accessDigest: string;
  readonly methods: string;
}

/** The user and the session that a request is authenticated as. */
export interface AuthPrincipal {
  readonly userId: UserId;
  readonly session: SessionInfo;
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
}

/** A principal that the library has authenticated, with the digest of its access token, if any. */
export class SessionPrincipal implements AuthPrincipal {
  readonly #stored: StoredProofs;
  readonly #accessDigest: string | null;
  readonly #user: RequestUser | null;
  #methods: Readonly<Record<string, Date>> | undefined;
  #data: Readonly<Partial<SessionData>> | undefined;

  /** @internal */
  constructor(
    readonly userId: UserId,
    readonly session: SessionInfo,
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
    const { session, userId } = principal;
    const { methods } = principal.#stored;
    return { id: session.id, userId: String(userId), accessDigest: principal.#accessDigest, methods };
  }
}

export const { currentSessionOf, requestUserOf } = SessionPrincipal;

/** Authenticates access tokens by a lookup in the database, so that a revocation takes effect at the next request. */
@Injectable()
export class Authentication {
  constructor(
    private readonly tokens: TokenIssuer,
    private readonly sessions: SessionStore,
    private readonly lifecycle: SessionLifecycle,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * Returns the principal of a valid access token of an active user, or null.
   * @param isReceived whether the client has received the token. If false, the call does not count as the first use of
   * the token. Default: true
   */
  async authenticate(
    accessToken: string,
    info: ClientInfo = {},
    { isReceived = true }: { readonly isReceived?: boolean } = {},
  ): Promise<AuthPrincipal | null> {
    const id = typeof accessToken === 'string' ? accessTokenSessionId(accessToken) : null;
    const found = id === null ? null : await this.sessions.find(id);
    if (!found) return null;
    const { session, accessDigest } = found;
    if (this.tokens.digest(accessToken) !== accessDigest) return null;
    const now = this.lifecycle.now();
    // An expired session is ended below, even if its access token has expired as well.
    if (found.accessExpiresAt <= now && !isExpired(session, now)) return null;
    const account = await this.lifecycle.accountIfValid(found, now, info);
    if (!account) return null;
    if (isReceived && found.replayUntil > now && !(await this.recordFirstUse(found, now))) return null;
    if (this.activity.isDue(session, now)) await this.activity.record(session.id, now);
    return new SessionPrincipal(
      this.lifecycle.userIdOf(session),
      toSessionInfo(session, session.id),
      new Date(session.authenticatedAt),
      found,
      accessDigest,
      account.user,
    );
  }

  /** Records the first use of the token within the grace period. Returns whether the token is still valid. */
  private async recordFirstUse({ session, accessDigest }: SessionWithAccessToken, now: number): Promise<boolean> {
    if (await this.sessions.markFirstUse(session.id, accessDigest, now)) return true;
    return (await this.sessions.find(session.id))?.accessDigest === accessDigest;
  }
}

/**
 * The maximum number of tokens of each kind that are looked up for one request. The number is bounded because a
 * request can contain any number of cookies with the same name.
 */
export const MAX_TOKENS = 10;

/** The session operations that exist only in cookie mode. */
@Injectable()
export class CookieSessions {
  constructor(
    private readonly refreshing: Refresh,
    private readonly authentication: Authentication,
    private readonly sessions: SessionStore,
    private readonly tokens: TokenIssuer,
    private readonly lifecycle: SessionLifecycle,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Exchanges the refresh token for a new pair. If a cookie refresh issued the presented pair within the grace period,
   * returns that pair, because browser tabs that wake up together present the pair that one tab has just received.
   * @throws AuthError `invalid_refresh_token`, `database_unavailable`
   */
  refresh({ refreshToken, accessToken }: CookieTokens, client: ClientInfo): Promise<TokenPair> {
    return measureDuration(this.metrics, 'session_auth.refresh.duration', () =>
      this.refreshing.refresh(refreshToken, client, { transport: 'cookie', accessToken }),
    );
  }

  /**
   * Returns the principal of a pair that the current response sends to the client, or null. The call does not count as
   * the first use of the access token, because the response can be lost, and the client can repeat its request from
   * another network.
   */
  authenticateIssued({ accessToken }: TokenPair, client: ClientInfo): Promise<AuthPrincipal | null> {
    const lookUp = (): Promise<AuthPrincipal | null> =>
      this.authentication.authenticate(accessToken, client, { isReceived: false });
    return measureDuration(this.metrics, 'session_auth.lookup.duration', lookUp);
  }

  /**
   * Returns whether the text is a refresh token that contains the id of an active session. The result does not prove
   * that the token is genuine, and only decides whether cookies are cleared.
   */
  async namesActiveSession(refreshToken: string): Promise<boolean> {
    const claims = parseRefreshToken(refreshToken);
    const found = claims && (await this.sessions.find(claims.sessionId));
    return found !== null && !isExpired(found.session, this.lifecycle.now());
  }

  /**
   * Returns the principal of the first refresh token that belongs to the current token family of an active session,
   * or null. Only a logout calls this method. A logout accepts used tokens, because a logout issues no tokens. The call
   * does not count as reuse. If a session has expired or its user is not active, ends the session, like
   * `SessionLifecycle.isValid`. At most 10 well-formed tokens are looked up.
   */
  async authenticateByRefreshTokens(
    refreshTokens: readonly string[],
    client: ClientInfo,
  ): Promise<AuthPrincipal | null> {
    const wellFormed = [...new Set(refreshTokens)].flatMap((token) => parseRefreshToken(token) ?? []);
    for (const { sessionId, familySecret } of wellFormed.slice(0, MAX_TOKENS)) {
      const found = await this.sessions.findFamily(sessionId);
      if (found?.familyDigest !== this.tokens.digest(familySecret)) continue;
      if (!(await this.lifecycle.isValid(found, this.lifecycle.now(), client))) continue;
      const { session } = found;
      return new SessionPrincipal(
        this.lifecycle.userIdOf(session),
        toSessionInfo(session, session.id),
        new Date(session.authenticatedAt),
        found,
        null,
        null,
      );
    }
    return null;
  }
}
