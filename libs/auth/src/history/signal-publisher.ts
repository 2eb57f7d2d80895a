import { Logger } from '@nestjs/common';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import { toFailureReport } from '../base/failures';
import type { Metrics } from '../base/telemetry';
import type { ApplicationTransactions } from '../database/joined-transaction';
import type { OpenSockets } from '../sessions/open-sockets';
import type { AuthSignalName, AuthSignals } from './signals';

type Listener = (...args: unknown[]) => unknown;

/** Emits signals to the application, after the commit of the caller's transaction, if any. Does not throw. */
export abstract class SignalBus {
  abstract emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void;
}

/** Emits signals through the application's EventEmitter2. A listener that fails does not affect the others. */
export class EventEmitterSignalBus extends SignalBus {
  private readonly logger = new Logger('AuthSignals');

  constructor(private readonly emitter: EventEmitter2) {
    super();
  }

  emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void {
    freeze(payload);
    for (const listener of [...this.emitter.listeners(name)] as Listener[]) this.call(name, listener, payload);
    for (const listener of [...this.emitter.listenersAny()] as Listener[]) this.call(name, listener, name, payload);
  }

  private call(name: string, listener: Listener, ...args: unknown[]): void {
    const report = (error: unknown): void => {
      const { summary, stack } = toFailureReport(error);
      this.logger.error(`A listener of ${name} failed: ${summary}`, stack);
    };
    try {
      // The promise is not awaited, because a listener may never finish.
      Promise.resolve(listener.apply(this.emitter, args)).catch(report);
    } catch (error) {
      report(error);
    }
  }
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}

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
