import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { reportFailure } from '../../domain/failure-report';
import { Clock } from '../../domain/ports/platform';
import { type SessionLookup, SessionStore } from '../../domain/ports/sessions';
import { isExpired } from '../../domain/session';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { BackgroundTask } from '../maintenance/background-task';
import type { AuthPrincipal } from './authentication';

/** Sessions of one look-up. */
const SESSIONS_PER_LOOKUP = 1_000;

interface OpenSocket {
  readonly close: () => unknown;
  /** Whether the tokens that opened the socket are still those of the session, which has this last proof of identity. */
  readonly isCurrent: (authenticatedAt: number) => boolean;
}

/**
 * Closes sockets and event streams when their session ends, or when a password change or a
 * reauthentication replaces the tokens that opened them: immediately where this instance does it.
 * What happens elsewhere, and sessions that expire, are found in the database, every
 * `socketCheckIntervalSeconds` while any socket is open. While the database does not answer, nothing
 * is closed.
 */
@Injectable()
export class OpenSockets implements BeforeApplicationShutdown {
  private readonly logger = new Logger('AuthSockets');
  private readonly bySession = new Map<string, Set<OpenSocket>>();
  private readonly checks: BackgroundTask;
  private stopped = false;

  constructor(
    @Inject(AUTH_OPTIONS) options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly sessions: SessionStore,
  ) {
    const intervalMs = options.socketCheckIntervalSeconds * 1000;
    this.checks = new BackgroundTask('socket checks', intervalMs, () => this.check());
  }

  /**
   * Calls `close`, once, when the session ends. Call the returned function when the socket closes by
   * itself. A `close` that throws or rejects is logged.
   * @param opener the principal that `AuthService.authenticate` returned for the socket's token, or the
   * id of a session. Only with the principal a socket is closed whose token was replaced between its
   * check and this call.
   */
  register(opener: AuthPrincipal | string, close: () => unknown): () => void {
    const sessionId = typeof opener === 'string' ? opener : opener?.session?.id;
    if (typeof sessionId !== 'string' || typeof close !== 'function') {
      throw new TypeError(
        'OpenSockets.register() needs a principal or the id of a session, and a function that closes the socket.',
      );
    }
    const id = sessionId.toLowerCase();
    const socket = { close, isCurrent: this.isCurrentFor(opener) };
    const ofSession = this.bySession.get(id) ?? new Set();
    this.bySession.set(id, ofSession.add(socket));
    this.checks.start();
    return () => {
      const isLast = ofSession.delete(socket) && ofSession.size === 0;
      if (isLast && this.bySession.get(id) === ofSession) this.forget(id);
    };
  }

  /**
   * Looks up the sessions and closes their sockets: all if the session has ended, else those that an
   * earlier token family has opened. Returns how many sessions had such sockets.
   * @throws AuthError `database_unavailable`; sockets of sessions not looked up by then stay open
   */
  async check(): Promise<number> {
    const ids = [...this.bySession.keys()];
    let closed = 0;
    for (let i = 0; i < ids.length && !this.stopped; i += SESSIONS_PER_LOOKUP) {
      const asked = ids.slice(i, i + SESSIONS_PER_LOOKUP);
      const live = await this.liveAmong(asked);
      closed += this.closeOf(asked.filter((id) => !live.has(id)));
      for (const [id, authenticatedAt] of live) closed += this.closeOutdated(id, authenticatedAt);
    }
    return closed;
  }

  private isCurrentFor(opener: AuthPrincipal | string): OpenSocket['isCurrent'] {
    if (typeof opener === 'string') {
      const registeredAt = this.clock.now();
      return (authenticatedAt) => authenticatedAt <= registeredAt;
    }
    // Another proof, not a later one: the clocks of two instances may differ.
    const own = opener.authenticatedAt.getTime();
    return (authenticatedAt) => authenticatedAt === own;
  }

  private closeOutdated(id: string, authenticatedAt: number): number {
    const ofSession = this.bySession.get(id) ?? new Set();
    const outdated = [...ofSession].filter(({ isCurrent }) => !isCurrent(authenticatedAt));
    for (const socket of outdated) {
      ofSession.delete(socket);
      this.close(socket);
    }
    if (outdated.length > 0 && ofSession.size === 0) this.forget(id);
    return Math.min(1, outdated.length);
  }

  /** Closes the sockets of these sessions; returns how many of them had any. */
  closeOf(sessionIds: readonly string[]): number {
    const found = sessionIds.filter((id) => this.bySession.has(id));
    for (const id of found) {
      const ofSession = this.bySession.get(id)!;
      this.forget(id);
      for (const socket of ofSession) this.close(socket);
      ofSession.clear();
    }
    return found.length;
  }

  /** Stops the checks; resolves when a running one is done. The application closes the sockets itself. */
  beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    return this.checks.stop();
  }

  /** The sessions that go on, with the time when their user last proved their identity. */
  private async liveAmong(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await this.sessions.findActive(ids);
    const now = this.clock.now();
    // A `UserStore` is not asked about each user: guarded requests notice a user who is disabled there.
    const isLive = ({ session, account }: SessionLookup): boolean =>
      !isExpired(session, now) && (account ?? 'active') === 'active';
    return new Map(found.filter(isLive).map(({ session }) => [session.id, session.authenticatedAt]));
  }

  private forget(id: string): void {
    this.bySession.delete(id);
    if (this.bySession.size === 0) this.checks.pause();
  }

  private close(socket: OpenSocket): void {
    const report = (error: unknown): void =>
      this.logger.error(`A socket could not be closed: ${reportFailure(error).summary}`);
    try {
      Promise.resolve(socket.close()).catch(report);
    } catch (error) {
      report(error);
    }
  }
}
