import type { ApplicationTransactions, Metrics } from '../../domain/ports/platform';
import { SignalBus } from '../../domain/ports/events';
import type { AuthSignalName, AuthSignals } from '../../domain/signals';
import type { OpenSockets } from '../sessions/open-sockets';

/** The library's own reactions to signals, which run before the listeners of the application. */
type Reactions = { readonly [Name in AuthSignalName]?: (payload: AuthSignals[Name]) => unknown };

/**
 * Emits signals after the commit of the application's transaction, or immediately if there is none. Drops the signals
 * of a transaction that is rolled back. Before it emits a signal, updates the metric of the signal, if any, and closes
 * the sockets of a session that ended or in which the password was changed.
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
        sockets.closeForSessions([session.id]);
        metrics.count('session_auth.session.ended', 1, { 'session_auth.end_reason': reason });
      },
      // Closes the sockets that were opened with earlier tokens of the kept session.
      password_changed: ({ session }) => session && sockets.closeForSessions([session.id]),
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
