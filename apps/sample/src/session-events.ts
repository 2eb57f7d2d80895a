import { Injectable, type MessageEvent, type OnModuleDestroy } from '@nestjs/common';
import { OnAuthSignal, OpenSockets, type AuthSignals, type UserId } from 'nestjs-session-auth';
import { Observable, type Subscriber } from 'rxjs';

/** Well below what proxies wait for; a page that hears nothing for longer connects anew. */
const HEARTBEAT_MS = 15_000;

/**
 * A stream of server-sent events for each open page: `changed` when something happened to its user on this instance, `ended` when its
 * session is over, wherever it was ended. That one is told by the library, which closes the stream.
 */
@Injectable()
export class SessionEvents implements OnModuleDestroy {
  /** Whoever asks for a stream now gets none: the server stops. */
  isStopping = false;
  private readonly byUser = new Map<string, Set<Subscriber<MessageEvent>>>();

  constructor(private readonly sockets: OpenSockets) {}

  of(userId: string, sessionId: string): Observable<MessageEvent> {
    return new Observable((page) => {
      const pages = this.byUser.get(userId) ?? new Set();
      this.byUser.set(userId, pages.add(page));
      const unregister = this.sockets.register(sessionId, () => end(page, 'ended'));
      const heartbeat = setInterval(() => tell(page, 'heartbeat'), HEARTBEAT_MS).unref();
      tell(page, 'open');
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
    this.tellPagesOf(userId);
  }

  @OnAuthSignal('user_logged_out')
  loggedOut({ userId }: AuthSignals['user_logged_out']): void {
    this.tellPagesOf(userId);
  }

  @OnAuthSignal('login_failed')
  loginFailed({ userId }: AuthSignals['login_failed']): void {
    if (userId !== null) this.tellPagesOf(userId);
  }

  @OnAuthSignal('password_changed')
  passwordChanged({ userId }: AuthSignals['password_changed']): void {
    this.tellPagesOf(userId);
  }

  /** A server waits for its open answers when it stops. */
  onModuleDestroy(): void {
    this.isStopping = true;
    for (const pages of [...this.byUser.values()]) for (const page of [...pages]) end(page, 'restart');
  }

  private tellPagesOf(userId: UserId): void {
    for (const page of this.byUser.get(String(userId)) ?? []) tell(page, 'changed');
  }
}

function tell(page: Subscriber<MessageEvent>, type: string): void {
  page.next({ type, data: '' });
}

function end(page: Subscriber<MessageEvent>, type: string): void {
  tell(page, type);
  page.complete();
}
