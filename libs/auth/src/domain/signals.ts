import type { BlockScope } from './failure-streak';
import type { UserId } from './ports/accounts';
import type { EndReason, SessionInfo } from './session';

/** Name and payload of every signal. A payload is frozen and holds no token and no password. */
export interface AuthSignals {
  /** A login opened a session. */
  user_logged_in: { readonly userId: UserId; readonly session: SessionInfo; readonly newDevice: boolean };
  /** A session ended, however it ended; one signal for each. */
  user_logged_out: { readonly userId: UserId; readonly session: SessionInfo; readonly reason: EndReason };
  /** A login was refused for its name or password, or a password was wrong within a session. */
  login_failed: {
    /** Masked but for its first two characters where no user has the name. */
    readonly username: string;
    readonly userId: UserId | null;
    readonly ipAddress: string | null;
    /** Failures in a row for this user or name from this network, or within the session; this one included. */
    readonly failureCount: number;
  };
  /** Failed logins began a delay of one network, or the block of an account; wrong passwords within a session its delay. */
  login_blocked: {
    /** Masked where no user has the name. */
    readonly username: string;
    readonly userId: UserId | null;
    readonly ipAddress: string | null;
    readonly scope: BlockScope;
    /** Null where only a reset ends it: `failedLogins.accountBlock: 'strict'`. */
    readonly until: Date | null;
  };
  /** A used refresh token was presented again: its family is revoked and the user's sessions have ended. */
  token_reuse_detected: {
    readonly userId: UserId;
    /** The session whose token it was. */
    readonly session: SessionInfo;
    /** Who presented it. */
    readonly ipAddress: string | null;
    readonly userAgent: string;
    /** How many refreshes ago the token was used, and when its family was last refreshed. */
    readonly reuse: { readonly generationsBehind: number; readonly lastRefreshAt: Date };
    readonly sessionsEnded: number;
  };
  /**
   * A session was refreshed from another network than before: an IPv4 address or an IPv6 /64. People move between networks; a
   * thief of a refresh token comes from another one too. Not emitted with `trackIps: false`.
   */
  session_network_changed: {
    readonly userId: UserId;
    readonly session: SessionInfo;
    readonly from: string;
    readonly to: string;
  };
  /**
   * A genuine refresh token is newer than the database, which has lost commits: it was restored from a backup, or failed over
   * to a server that lagged behind. Sessions that had ended since are active again, and replaced passwords valid. At most one
   * per minute and process. The session is the first one that was noticed; it stays active.
   */
  lost_commits_suspected: { readonly userId: UserId; readonly session: SessionInfo };
  /** A login was refused because the user has as many sessions as the policy allows; each time, unlike its event. */
  session_limit_reached: { readonly userId: UserId; readonly activeSessions: number };
  /**
   * Failures in a row for one user or name have reached `failedLogins.signalAt` from one network or within one session, or
   * from anywhere half of what begins the block of the account; once per streak each.
   */
  brute_force_threshold_hit: {
    /** Masked where no user has the name. */
    readonly username: string;
    readonly ipAddress: string | null;
    /** Of the network, the session or the account, as `scope` says. */
    readonly failureCount: number;
    readonly scope: BlockScope;
  };
  /** A user changed the password; `session` is the one that was kept, null where the change came without one. */
  password_changed: { readonly userId: UserId; readonly session: SessionInfo | null };
  /** The application reset the password. */
  password_reset: { readonly userId: UserId };
}

/** The name of a signal. */
export type AuthSignalName = keyof AuthSignals;
