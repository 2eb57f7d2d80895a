import { Injectable, Logger } from '@nestjs/common';
import { kindOf } from '../domain/loggable';
import type { Clock } from '../domain/ports/clock';
import type { SessionLookup, SessionStore } from '../domain/ports/session-store';
import { isOver } from '../domain/session';
import type { ResolvedAuthOptions } from '../options/auth-options';
import { limitsOf } from './session-limits';

/** As many sessions as one statement asks for. */
const SESSIONS_AT_ONCE = 1_000;

interface OpenSocket {
  readonly close: () => unknown;
}

/**
 * What stays open after a request was let in, and must not outlive its session: sockets, streams of events.
 *
 * A session that is ended by this instance takes its sockets along at once. Ends elsewhere, and times that are over, are found
 * by asking the database, every `socketCheckIntervalSeconds` while any is open: one statement for all of them. While the
 * database does not answer nothing is closed.
 */
@Injectable()
export class OpenSockets {
  private readonly logger = new Logger('AuthSockets');
  private readonly bySession = new Map<string, Set<OpenSocket>>();
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<unknown> | undefined;
  private stopped = false;

  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly sessions: SessionStore,
  ) {}

  /**
   * Has `close` called, once, when the session ends. The function that comes back takes that back: for the socket's own end.
   * A `close` that throws or rejects is logged, and stops nobody.
   */
  register(sessionId: string, close: () => unknown): () => void {
    if (typeof sessionId !== 'string' || typeof close !== 'function') {
      throw new TypeError('OpenSockets.register() needs the id of a session and a function that closes the socket.');
    }
    const id = sessionId.toLowerCase();
    const socket = { close };
    const ofSession = this.bySession.get(id) ?? new Set();
    this.bySession.set(id, ofSession.add(socket));
    this.runWhileOpen();
    return () => {
      const isLast = ofSession.delete(socket) && ofSession.size === 0;
      if (isLast && this.bySession.get(id) === ofSession) this.forget(id);
    };
  }

  /**
   * Looks now which of the sessions still live, and closes the sockets of the others; how many sessions those were.
   * @throws AuthError `database_unavailable`; those that were not asked about by then stay open
   */
  async check(): Promise<number> {
    const ids = [...this.bySession.keys()];
    let closed = 0;
    for (let i = 0; i < ids.length && !this.stopped; i += SESSIONS_AT_ONCE) {
      const asked = ids.slice(i, i + SESSIONS_AT_ONCE);
      const live = await this.liveAmong(asked);
      closed += this.closeOf(asked.filter((id) => !live.has(id)));
    }
    return closed;
  }

  /** Closes the sockets of sessions that have ended; of how many there were any. */
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

  /** Asks no more; resolves when the question that is on its way is answered. The sockets are the host's to close. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.checking;
  }

  private async liveAmong(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.sessions.findActive(ids);
    const [now, limits] = [this.clock.now(), limitsOf(this.options)];
    // A user store that is elsewhere is not asked about each user: guarded requests are what notices there.
    const isLive = ({ session, account }: SessionLookup): boolean =>
      !isOver(session, limits, now) && (account ?? 'active') === 'active';
    return new Set(found.filter(isLive).map(({ session }) => session.id));
  }

  /** One timer while anything is open; it keeps no process alive. */
  private runWhileOpen(): void {
    if (this.timer || this.stopped) return;
    this.timer = setInterval(() => this.runOnce(), this.options.socketCheckIntervalSeconds * 1000).unref();
  }

  private runOnce(): void {
    this.checking ??= this.check()
      .catch(() => this.logger.warn('The sessions of open sockets could not be looked up; it is tried again.'))
      .finally(() => (this.checking = undefined));
  }

  private forget(id: string): void {
    this.bySession.delete(id);
    if (this.bySession.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private close(socket: OpenSocket): void {
    const tell = (error: unknown): void => this.logger.error(`A socket could not be closed: ${kindOf(error)}`);
    try {
      Promise.resolve(socket.close()).catch(tell);
    } catch (error) {
      tell(error);
    }
  }
}
