import { Injectable, type MessageEvent, type OnModuleDestroy } from '@nestjs/common';
import { OnAuthSignal, OpenSockets, type AuthPrincipal, type AuthSignals, type UserId } from 'nestjs-session-auth';
import { Observable, type Subscriber } from 'rxjs';

/** Well below the idle timeouts of proxies. A page that receives nothing for longer reconnects. */
const HEARTBEAT_MS = 15_000;

/**
 * A stream of server-sent events for each open page: `changed` when something happened to its user
 * on this instance, `ended` when its session ended, on any instance. `OpenSockets` reports the
 * latter.
 */
@Injectable()
export class SessionEvents implements OnModuleDestroy {
  /** Whether the server is shutting down. New streams are refused then. */
  isStopping = false;
  private readonly byUser = new Map<string, Set<Subscriber<MessageEvent>>>();

  constructor(private readonly sockets: OpenSockets) {}

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

  /** The shutdown of a server waits for its open responses. */
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
