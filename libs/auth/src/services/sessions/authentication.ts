import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { provenMethods, readData, type SessionData, type StoredProofs } from '../../domain/proofs';
import { type CurrentSession, SessionStore, type SessionWithAccessToken } from '../../domain/ports/sessions';
import type { UserId } from '../../domain/ports/accounts';
import type { RequestUser } from '../../domain/request-user';
import { isExpired, viewSession, type SessionInfo } from '../../domain/session';
import { accessTokenSessionId } from '../../domain/tokens';
import { ActivityRecorder } from './activity-recorder';
import { SessionLifecycle } from './session-lifecycle';
import { TokenIssuer } from './token-issuer';

/** Who makes a request, and by which session. */
export interface AuthPrincipal {
  readonly userId: UserId;
  readonly session: SessionInfo;
  /** When the user last proved their identity: by the login, or since by `reauthenticate`. */
  readonly authenticatedAt: Date;
  /** How the user was identified: names of RFC 8176 such as `pwd` and `otp`, with the time of the last proof. */
  readonly methods: Readonly<Record<string, Date>>;
  /** What the application keeps on the session; empty where it was opened without. */
  readonly data: Readonly<Partial<SessionData>>;
}

/** A principal that was authenticated by the library itself, which knows by which access token. */
export class SessionPrincipal implements AuthPrincipal {
  readonly #stored: StoredProofs;
  readonly #accessDigest: string | null;
  readonly #user: RequestUser | null;
  #methods: Readonly<Record<string, Date>> | undefined;
  #data: Readonly<Partial<SessionData>> | undefined;

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

  /** What `request.user` holds; null where nothing was read of the user, or for one not made here. */
  static requestUserOf(this: void, principal: AuthPrincipal): RequestUser | null {
    return #user in principal ? principal.#user : null;
  }

  // Most requests need neither.
  get methods(): Readonly<Record<string, Date>> {
    return (this.#methods ??= provenMethods(this.#stored.methods));
  }

  get data(): Readonly<Partial<SessionData>> {
    return (this.#data ??= readData(this.#stored.data));
  }

  /** The session, with the access token that authenticated the principal; null for one not authenticated by one. */
  static currentSessionOf(this: void, principal: AuthPrincipal): CurrentSession | null {
    if (!(#accessDigest in principal) || principal.#accessDigest === null) return null;
    const { session, userId } = principal;
    const { methods } = principal.#stored;
    return { id: session.id, userId: String(userId), accessDigest: principal.#accessDigest, methods };
  }
}

export const { currentSessionOf, requestUserOf } = SessionPrincipal;

/** Authenticates access tokens by the database, at every request: a revocation takes effect at once. */
@Injectable()
export class Authentication {
  constructor(
    private readonly tokens: TokenIssuer,
    private readonly sessions: SessionStore,
    private readonly lifecycle: SessionLifecycle,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * The principal, or null for whatever is not a live access token of an active user.
   * @param isReceived false for a token that is still on its way to the client: this is no first use then. Default: true
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
    // The end of an expired session is stored whichever of its times has passed.
    if (found.accessExpiresAt <= now && !isExpired(session, now)) return null;
    const account = await this.lifecycle.accountIfLive(found, now, info);
    if (!account) return null;
    if (isReceived && found.replayUntil > now && !(await this.recordFirstUse(found, now))) return null;
    if (this.activity.isDue(session, now)) await this.activity.record(session.id, now);
    return new SessionPrincipal(
      this.lifecycle.userIdOf(session),
      viewSession(session, session.id),
      new Date(session.authenticatedAt),
      found,
      accessDigest,
      account.user,
    );
  }

  /** Stores the first use within the grace period before it counts. Returns whether the token is still live. */
  private async recordFirstUse({ session, accessDigest }: SessionWithAccessToken, now: number): Promise<boolean> {
    if (await this.sessions.markFirstUse(session.id, accessDigest, now)) return true;
    return (await this.sessions.find(session.id))?.accessDigest === accessDigest;
  }
}
