import type { ApplicationTransactions, Metrics } from '../../domain/ports/platform';
import { SignalBus } from '../../domain/ports/events';
import type { AuthSignalName, AuthSignals } from '../../domain/signals';
import type { OpenSockets } from '../sessions/open-sockets';

/** What the library itself does with a signal, before any listener of the application. */
type Reactions = { readonly [Name in AuthSignalName]?: (payload: AuthSignals[Name]) => unknown };

/**
 * Publishes signals after the commit; those of a rolled-back transaction are dropped. Closes the sockets of a session that
 * has ended or changed its tokens and counts the fact, then passes the signal on.
 */
export class SignalPublisher extends SignalBus {
  private readonly reactions: Reactions;

  constructor(
    private readonly next: SignalBus,
    private readonly transactions: ApplicationTransactions,
    sockets: OpenSockets,
    metrics: Metrics,
  ) {
    super();
    this.reactions = {
      user_logged_in: () => metrics.count('session_auth.session.opened', 1),
      user_logged_out: ({ session, reason }) => {
        sockets.closeOf([session.id]);
        metrics.count('session_auth.session.ended', 1, { 'session_auth.end_reason': reason });
      },
      // What the earlier tokens of the kept session have opened ends with them.
      password_changed: ({ session }) => session && sockets.closeOf([session.id]),
      login_failed: () => metrics.count('session_auth.login.failed', 1),
      token_reuse_detected: () => metrics.count('session_auth.token.reused', 1),
    };
  }

  emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void {
    this.transactions.whenCommitted(() => {
      this.reactions[name]?.(payload);
      this.next.emit(name, payload);
    });
  }
}
