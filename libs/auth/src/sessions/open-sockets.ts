import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { BackgroundTask } from '../base/background-task';
import { Clock } from '../base/clock';
import { toFailureReport } from '../base/failures';
import { Signals } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { type ActiveSession, Authenticate, type AuthPrincipal } from './authenticate';
import { EndSessions } from './end-sessions';
import { AuthenticatedExternal, type ExternalPrincipal } from './external-principal';
import { isExpired } from './session';

const SESSIONS_PER_LOOKUP = 1_000;

/** How many API keys and tokens of an earlier system are verified at the same time. */
const PARALLEL_CHECKS = 50;

/** The id of the session that opened a socket, or else the principal of its API key or token of an earlier system. */
type Opener = string | AuthenticatedExternal;

interface OpenSocket {
  readonly close: () => unknown;
  /** Whether the token family that opened the socket is current in a session with this `authenticatedAt`. */
  readonly isCurrent: (authenticatedAt: number) => boolean;
}

/**
 * Closes sockets and event streams when their session ends, or when a password change, a reauthentication or
 * `confirmIdentity` replaces the tokens that opened them: after the commit if this instance makes the change. While any
 * socket is open, a check of the database every `socketCheckIntervalSeconds` finds expired sessions and the changes of
 * other instances. If the database is unavailable, the check leaves sockets open.
 */
@Injectable()
export class OpenSockets implements BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthSockets');
  private readonly byOpener = new Map<Opener, Set<OpenSocket>>();
  private readonly checks: BackgroundTask;
  /** The sessions of sockets that have just been registered. */
  private readonly unchecked = new Set<string>();

  /** @internal */
  constructor(
    @Inject(AUTH_OPTIONS) options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly sessions: Authenticate,
    signals: Signals,
    endSessions: EndSessions,
  ) {
    const intervalMs = options.socketCheckIntervalSeconds * 1000;
    this.checks = new BackgroundTask('socket checks', intervalMs, () => this.check());
    signals.react('user_logged_out', ({ session }) => this.closeForSessions([session.id]));
    endSessions.onKeysEnded = (userId, keyId) => this.closeForKeys(userId, keyId);
  }

  /**
   * Registers a socket, and looks its session up. `close` is called at most once: when the session ends, or when a
   * password change or a reauthentication replaces its tokens, but not at a refresh. Its errors are logged.
   * @param opener the principal that `AuthService.authenticate` returned for the socket's token, or the id of a
   *   session. With an id, the socket stays open even if its token was replaced between `authenticate` and this call.
   * @returns a function that unregisters the socket. Call this function when the socket closes for any other reason
   * @throws TypeError if an argument has the wrong type
   */
  register(opener: AuthPrincipal | ExternalPrincipal | string, close: () => unknown): () => void {
    const isExternal = opener instanceof AuthenticatedExternal;
    const sessionId = typeof opener === 'string' ? opener : (opener as AuthPrincipal | undefined)?.sessionId;
    if (!(isExternal || typeof sessionId === 'string') || typeof close !== 'function') {
      const received = `OpenSockets.register() received ${typeof opener} and ${typeof close}.`;
      throw new TypeError(
        `${received} Pass a principal or the id of a session, and a function that closes the socket.`,
      );
    }
    const registeredAt = this.clock.now();
    // A principal that another process stored, as socket.io does to recover a connection, has its times as texts.
    const provedAt = typeof opener === 'string' ? null : new Date((opener as AuthPrincipal).authenticatedAt).getTime();
    // The times of a principal are compared for equality, because the clocks of two instances may differ.
    const isCurrent = (authenticatedAt: number): boolean =>
      provedAt === null ? authenticatedAt <= registeredAt : authenticatedAt === provedAt;
    const socket = { close, isCurrent };
    const key = isExternal ? opener : sessionId!.toLowerCase();
    const sockets = this.byOpener.get(key) ?? new Set();
    this.byOpener.set(key, sockets.add(socket));
    this.checks.start();
    if (typeof key === 'string') void this.checkSoon(key);
    else if (key.apiKey) void this.closeUnlessAccepted(key);
    return () => this.unregister(key, [socket]);
  }

  /**
   * Looks up the sessions of all open sockets. If a session has ended or expired, or its user is not active (unless you
   * have a `UserStore`), closes all of its sockets. Otherwise, closes the sockets that an earlier token family opened.
   * Verifies API keys and the tokens of an earlier system again. Runs automatically every `socketCheckIntervalSeconds`.
   * @returns the number of sessions, and of principals without a session, with at least one closed socket
   * @throws AuthError `database_unavailable`. Sockets of sessions that were not yet looked up stay open
   */
  async check(): Promise<number> {
    const openers = [...this.byOpener.keys()];
    const external = openers.filter((opener) => typeof opener !== 'string');
    let closed = await this.checkSessions(openers.filter((opener) => typeof opener === 'string'));
    for (let i = 0; i < external.length && !this.checks.isStopped; i += PARALLEL_CHECKS) {
      const batch = external.slice(i, i + PARALLEL_CHECKS).map((opener) => this.closeUnlessAccepted(opener));
      closed += (await Promise.all(batch)).filter(Boolean).length;
    }
    return closed;
  }

  /** Returns whether sockets were closed. */
  private async closeUnlessAccepted(opener: AuthenticatedExternal): Promise<boolean> {
    // If the database is not available, the next check verifies the token.
    const isAccepted = await AuthenticatedExternal.isStillAccepted(opener).catch(() => true);
    return !isAccepted && this.closeWhere([opener]) > 0;
  }

  private closeForKeys(userId: string, keyId?: string): void {
    const matches = ({ userId: owner, apiKey }: ExternalPrincipal): boolean =>
      apiKey !== undefined && (keyId === undefined ? String(owner) === userId : apiKey.id === keyId);
    this.closeWhere([...this.byOpener.keys()].filter((opener) => typeof opener !== 'string' && matches(opener)));
  }

  /** Looks up the session together with those of other sockets that register at the same time. */
  private async checkSoon(id: string): Promise<void> {
    this.unchecked.add(id);
    if (this.unchecked.size > 1) return;
    await Promise.resolve();
    const ids = [...this.unchecked];
    this.unchecked.clear();
    // If the database is not available, the next check looks the sessions up.
    await this.checkSessions(ids).catch(() => undefined);
  }

  private async checkSessions(ids: readonly string[]): Promise<number> {
    let closed = 0;
    for (let i = 0; i < ids.length && !this.checks.isStopped; i += SESSIONS_PER_LOOKUP) {
      const batch = ids.slice(i, i + SESSIONS_PER_LOOKUP);
      const found = await this.sessions.findActive(batch);
      const now = this.clock.now();
      // A `UserStore` is not queried for each user, so `account` is null. Guarded requests detect its inactive users.
      const isCurrent = ({ account, realm, userRealm }: ActiveSession): boolean =>
        account === null || (account === 'active' && realm === userRealm);
      const live = found.filter((one) => !isExpired(one.session, now) && isCurrent(one));
      const authenticatedAt = new Map(live.map(({ session }) => [session.id, session.authenticatedAt]));
      // No socket is current at NaN.
      closed += this.closeWhere(batch, (socket, id) => !socket.isCurrent(authenticatedAt.get(id) ?? NaN));
    }
    return closed;
  }

  /** Closes all sockets of the given sessions on this instance. Returns the number of sessions that had one. */
  closeForSessions(sessionIds: readonly string[]): number {
    return this.closeWhere(sessionIds);
  }

  /** Resolves when a running check has finished. The sockets stay open, because the application closes them. */
  beforeApplicationShutdown(): Promise<void> {
    return this.checks.stop();
  }

  /** Returns the number of openers with at least one closed socket. */
  private closeWhere<T extends Opener>(
    openers: readonly T[],
    matches: (socket: OpenSocket, opener: T) => boolean = () => true,
  ): number {
    let closed = 0;
    for (const opener of openers) {
      const closing = [...(this.byOpener.get(opener) ?? [])].filter((socket) => matches(socket, opener));
      if (closing.length > 0) closed++;
      // Unregistered first, because closing a socket can unregister others.
      this.unregister(opener, closing);
      for (const socket of closing) void this.close(socket);
    }
    return closed;
  }

  private unregister(opener: Opener, closing: readonly OpenSocket[]): void {
    const sockets = this.byOpener.get(opener);
    for (const socket of closing) sockets?.delete(socket);
    if (sockets?.size === 0) this.byOpener.delete(opener);
    if (this.byOpener.size === 0) this.checks.pause();
  }

  private async close({ close }: OpenSocket): Promise<void> {
    try {
      await close();
    } catch (error) {
      const { summary } = toFailureReport(error);
      this.logger.error(`The function that closes a socket failed, so the socket may still be open. ${summary}`);
    }
  }
}
