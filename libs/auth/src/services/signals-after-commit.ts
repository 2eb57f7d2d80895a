import type { HostTransactions } from '../domain/ports/host-transactions';
import { SignalBus } from '../domain/ports/signal-bus';
import type { AuthSignalName, AuthSignals } from '../domain/signals';

/** Signals of a call that takes part in a transaction of the host's wait for its commit; those of a rollback are dropped. */
export class SignalsAfterCommit extends SignalBus {
  constructor(
    private readonly signals: SignalBus,
    private readonly transactions: HostTransactions,
  ) {
    super();
  }

  emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void {
    this.transactions.whenCommitted(() => this.signals.emit(name, payload));
  }
}
