import { Logger } from '@nestjs/common';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import type { DeviceInfo } from '../adapters/device-detector';
import type { UserId } from '../adapters/user-store';
import { toFailureReport } from '../base/failures';
import type { Metrics } from '../base/telemetry';
import type { EndReason, SessionState } from '../database/entities';
import { afterCommit, type JoinedTransaction } from '../database/joined-transaction';

/** What refuses an attempt: the delay of a network or session, or the block of an account. */
export type BlockScope = 'network' | 'account' | 'session';

/** A session in the form that the application and its users receive. */
export interface SessionInfo extends DeviceInfo {
  readonly id: string;
  readonly state: SessionState;
  readonly ipAddress: string | null;
  readonly createdAt: Date;
  readonly lastActivity: Date;
  /** Whether this is the session of the request. */
  readonly isCurrent: boolean;
  /** The address of the last refresh, or of the login. Null if unknown or not tracked. */
  readonly lastIpAddress: string | null;
  /** When the session ends if it is not used again. */
  readonly expiresAt: Date;
  /** The names of the methods by which the user was identified, such as `pwd` and `otp`. */
  readonly methods: readonly string[];
  /** Whether an administrator opened the session as the user. */
  readonly impersonated: boolean;
}

/**
 * The payload of every signal, by name. Payloads are frozen, and contain no tokens and no passwords. `docs/signals.md`
 * describes each field.
 */
export interface AuthSignals {
  /** A login opened a session. `newDevice`: the user's earlier sessions have a different network or device. */
  user_logged_in: { readonly userId: UserId; readonly session: SessionInfo; readonly newDevice: boolean };
  /** A session ended, for any reason. Emitted at most once for each session. */
  user_logged_out: { readonly userId: UserId; readonly session: SessionInfo; readonly reason: EndReason };
  /** A login failed, or a wrong password or code was entered within a session or with a login ticket. */
  login_failed: {
    /** An unknown name is masked after its first two characters. */
    readonly username: string;
    readonly userId: UserId | null;
    readonly ipAddress: string | null;
    readonly failureCount: number;
  };
  /** Failures started a delay or the block of an account. */
  login_blocked: {
    readonly username: string;
    readonly userId: UserId | null;
    readonly ipAddress: string | null;
    readonly scope: BlockScope;
    /** When the delay or block ends. Null if only a reset ends it. */
    readonly until: Date | null;
  };
  /** A used refresh token was presented again. All sessions of the user have ended. */
  token_reuse_detected: {
    readonly userId: UserId;
    readonly session: SessionInfo;
    readonly ipAddress: string | null;
    readonly userAgent: string;
    readonly reuse: { readonly generationsBehind: number; readonly lastRefreshAt: Date };
    readonly sessionsEnded: number;
  };
  /** A session was refreshed from a different network (an IPv4 address or an IPv6 /64) than before. */
  session_network_changed: {
    readonly userId: UserId;
    readonly session: SessionInfo;
    readonly from: string;
    readonly to: string;
  };
  /** A refresh token is newer than the database, which has probably lost commits. At most once a minute per process. */
  lost_commits_suspected: { readonly userId: UserId; readonly session: SessionInfo };
  /** The session limit refused a login. */
  session_limit_reached: { readonly userId: UserId; readonly activeSessions: number };
  /** A failure streak has reached `failedLogins.signalAt`, or half of the failures that block the account. */
  brute_force_threshold_hit: {
    readonly username: string;
    readonly ipAddress: string | null;
    readonly failureCount: number;
    readonly scope: BlockScope;
  };
  /** A user changed their password. `session` continues with new tokens. Null if it ended in the meantime. */
  password_changed: { readonly userId: UserId; readonly session: SessionInfo | null };
  /** The password was set by `resetPassword` or with a reset token. */
  password_reset: { readonly userId: UserId };
}

/** The name of a signal. */
export type AuthSignalName = keyof AuthSignals;

type Listener = (...args: unknown[]) => unknown;
type Reactions = { [Name in AuthSignalName]?: ((payload: AuthSignals[Name]) => unknown)[] };

/**
 * Emits signals through the application's EventEmitter2: after the commit of the application's transaction, or
 * immediately if there is none. Drops the signals of a transaction that is rolled back. A listener that fails affects
 * neither other listeners nor the caller.
 */
export class Signals {
  private readonly logger = new Logger('AuthSignals');
  private readonly reactions: Reactions = {};
  private emitter: EventEmitter2 | null = null;

  constructor(
    private readonly findEmitter: () => EventEmitter2,
    metrics: Metrics,
  ) {
    this.react('user_logged_in', () => metrics.count('session_auth.session.opened', 1));
    this.react('user_logged_out', ({ reason }) =>
      metrics.count('session_auth.session.ended', 1, { 'session_auth.end_reason': reason }),
    );
    this.react('login_failed', () => metrics.count('session_auth.login.failed', 1));
    this.react('token_reuse_detected', () => metrics.count('session_auth.token.reused', 1));
  }

  /** Adds a reaction of the library itself, which runs before the listeners of the application. */
  react<Name extends AuthSignalName>(name: Name, reaction: (payload: AuthSignals[Name]) => unknown): void {
    (this.reactions[name] ??= [] as NonNullable<Reactions[Name]>).push(reaction);
  }

  emit<Name extends AuthSignalName>(tx: JoinedTransaction | null, name: Name, payload: AuthSignals[Name]): void {
    afterCommit(tx, () => {
      for (const reaction of this.reactions[name] ?? []) reaction(payload);
      freeze(payload);
      const emitter = (this.emitter ??= this.findEmitter());
      for (const listener of [...emitter.listeners(name)]) void this.call(emitter, name, listener, payload);
      for (const listener of [...emitter.listenersAny()]) void this.call(emitter, name, listener, name, payload);
    });
  }

  /** The caller does not await the result, because a listener may never finish. */
  private async call(emitter: EventEmitter2, name: string, listener: unknown, ...args: unknown[]): Promise<void> {
    try {
      await (listener as Listener).apply(Object.assign(emitter, { event: name }), args);
    } catch (error) {
      const { summary, stack } = toFailureReport(error);
      this.logger.error(`A listener of ${name} failed: ${summary}`, stack);
    }
  }
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}
