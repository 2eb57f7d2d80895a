import { Logger } from '@nestjs/common';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import { toFailureReport } from '../base/failures';
import type { Metrics } from '../base/telemetry';
import type { JoinedTransaction } from '../database/joined-transaction';
import type { AuthSignalName, AuthSignals } from './signals';

type Listener = (...args: unknown[]) => unknown;

type Reactions = { [Name in AuthSignalName]?: ((payload: AuthSignals[Name]) => unknown)[] };

/**
 * Emits signals through the application's EventEmitter2: after the commit of the application's transaction, or
 * immediately if there is none. Drops the signals of a transaction that is rolled back. A listener that fails affects
 * neither other listeners nor the caller.
 */
export class Signals {
  private readonly logger = new Logger('AuthSignals');
  private readonly reactions: Reactions = {};

  constructor(
    private readonly emitter: EventEmitter2,
    metrics: Metrics,
  ) {
    this.react('user_logged_in', () => metrics.count('session_auth.session.opened', 1));
    this.react('user_logged_out', ({ reason }) =>
      metrics.count('session_auth.session.ended', 1, { 'session_auth.end_reason': reason }),
    );
    this.react('login_failed', () => metrics.count('session_auth.login.failed', 1));
    this.react('token_reuse_detected', () => metrics.count('session_auth.token.reused', 1));
  }

  /** Adds a reaction of the library itself, which runs before the listeners of the application. */
  react<Name extends AuthSignalName>(name: Name, reaction: (payload: AuthSignals[Name]) => unknown): void {
    (this.reactions[name] ??= [] as NonNullable<Reactions[Name]>).push(reaction);
  }

  emit<Name extends AuthSignalName>(tx: JoinedTransaction | null, name: Name, payload: AuthSignals[Name]): void {
    const publish = (): void => {
      for (const reaction of this.reactions[name] ?? []) reaction(payload);
      freeze(payload);
      for (const listener of [...this.emitter.listeners(name)] as Listener[]) this.call(name, listener, payload);
      for (const listener of [...this.emitter.listenersAny()] as Listener[]) this.call(name, listener, name, payload);
    };
    if (tx) tx.whenDecided(publish);
    else publish();
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
