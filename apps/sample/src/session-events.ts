import { Injectable, type MessageEvent, type OnModuleDestroy } from '@nestjs/common';
import { OnAuthSignal, OpenSockets, type AuthPrincipal, type AuthSignals, type UserId } from 'nestjs-session-auth';
import { Observable, type Subscriber } from 'rxjs';

/**
 * The interval between heartbeats, well below the idle timeouts of proxies. `page/live.js` reconnects after 40
 * seconds of silence.
 */
const HEARTBEAT_MS = 15_000;

/**
 * The streams of server-sent events, at most one for each open page. A page receives `changed` when one of the signals
 * below is emitted about its user on this instance, and `ended` when `OpenSockets` reports that its session has ended on
 * any instance.
 */
@Injectable()
export class SessionEvents implements OnModuleDestroy {
  /** Whether the server is shutting down and refuses new streams. */
  isStopping = false;
  private readonly byUser = new Map<string, Set<Subscriber<MessageEvent>>>();

  constructor(private readonly sockets: OpenSockets) {}

  /** Returns the event stream of a session. */
  of(principal: AuthPrincipal): Observable<MessageEvent> {
    const userId = String(principal.userId);
    return new Observable((page) => {
      const pages = this.byUser.get(userId) ?? new Set();
      this.byUser.set(userId, pages.add(page));
      const unregister = this.sockets.register(principal, () => end(page, 'ended'));
      const heartbeat = setInterval(() => send(page, 'heartbeat'), HEARTBEAT_MS).unref();
      send(page, 'open');
      return () => {
        clearInterval(heartbeat);
        unregister();
        pages.delete(page);
        if (pages.size === 0 && this.byUser.get(userId) === pages) this.byUser.delete(userId);
      };
    });
  }

  @OnAuthSignal('user_logged_in')
  loggedIn({ userId }: AuthSignals['user_logged_in']): void {
    this.notifyPagesOf(userId);
  }

  @OnAuthSignal('user_logged_out')
  loggedOut({ userId }: AuthSignals['user_logged_out']): void {
    this.notifyPagesOf(userId);
  }

  @OnAuthSignal('login_failed')
  loginFailed({ userId }: AuthSignals['login_failed']): void {
    if (userId !== null) this.notifyPagesOf(userId);
  }

  @OnAuthSignal('password_changed')
  passwordChanged({ userId }: AuthSignals['password_changed']): void {
    this.notifyPagesOf(userId);
  }

  /** Ends all streams, because the shutdown waits for open responses. */
  onModuleDestroy(): void {
    this.isStopping = true;
    for (const pages of [...this.byUser.values()]) for (const page of [...pages]) end(page, 'restart');
  }

  private notifyPagesOf(userId: UserId): void {
    for (const page of this.byUser.get(String(userId)) ?? []) send(page, 'changed');
  }
}

function send(page: Subscriber<MessageEvent>, type: string): void {
  page.next({ type, data: '' });
}

function end(page: Subscriber<MessageEvent>, type: string): void {
  send(page, type);
  page.complete();
}
