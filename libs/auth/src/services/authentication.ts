import type { ClientInfo } from '../domain/client';
import { isToken } from '../domain/opaque-token';
import type { Clock } from '../domain/ports/clock';
import type { SessionStore } from '../domain/ports/session-store';
import type { UserId, UserStore } from '../domain/ports/user-store';
import { isOver, viewSession, type Session } from '../domain/session';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { ActivityRecorder } from './activity-recorder';
import type { ClientInspector } from './client-inspector';
import type { SessionNotices } from './session-notices';
import type { TokenIssuer } from './token-issuer';

/** Who makes a request, and by which session. */
export interface AuthPrincipal {
  readonly userId: UserId;
  readonly session: Session;
  /** When the user last proved who they are: by the login, or since by `reauthenticate`. */
  readonly authenticatedAt: Date;
}

/** Tells the session of an access token, from the database, at every request: a revocation is in force at once. */
export class Authentication {
  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly tokens: TokenIssuer,
    private readonly inspector: ClientInspector,
    private readonly sessions: SessionStore,
    private readonly users: UserStore,
    private readonly notices: SessionNotices,
    private readonly activity: ActivityRecorder,
  ) {}

  /** The principal, or null for whatever is no live access token of an active user. */
  async authenticate(token: string, info: ClientInfo = {}): Promise<AuthPrincipal | null> {
    if (typeof token !== 'string' || !isToken('access', token)) return null;
    const found = await this.sessions.findByAccessDigest(this.tokens.digest(token));
    if (!found || found.session.state !== 'active') return null;
    const { session } = found;
    const now = this.clock.now();
    if (isOver(session, this.notices.limits, now)) {
      await this.notices.noticeOver(session.userId);
      return null;
    }
    if (found.accessExpiresAt <= now) return null;
    const userId = this.users.parseId(session.userId);
    const account = found.account ?? (await this.notices.accountOf(userId));
    if (account !== 'active') {
      await this.notices.noticeGone(session.userId, account, this.inspector.inspect(info));
      return null;
    }
    if (now - session.lastActivity >= this.options.activityIntervalSeconds * 1000) {
      await this.activity.record(session.id, now);
    }
    const authenticatedAt = new Date(session.authenticatedAt);
    return { userId, session: viewSession(session, session.id), authenticatedAt };
  }
}
