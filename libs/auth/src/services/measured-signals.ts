import type { Metrics } from '../domain/ports/metrics';
import { SignalBus } from '../domain/ports/signal-bus';
import type { AuthSignalName, AuthSignals } from '../domain/signals';

type Count = { readonly [Name in AuthSignalName]?: (payload: AuthSignals[Name]) => void };

/** Counts facts by their signals, which are sent after the commit and once for each. */
export class MeasuredSignals extends SignalBus {
  private readonly counts: Count;

  constructor(
    private readonly signals: SignalBus,
    metrics: Metrics,
  ) {
    super();
    this.counts = {
      user_logged_in: () => metrics.count('session_auth.session.opened', 1),
      user_logged_out: ({ reason }) =>
        metrics.count('session_auth.session.ended', 1, { 'session_auth.end_reason': reason }),
      login_failed: () => metrics.count('session_auth.login.failed', 1),
      token_reuse_detected: () => metrics.count('session_auth.token.reused', 1),
    };
  }

  emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void {
    this.counts[name]?.(payload);
    this.signals.emit(name, payload);
  }
}
