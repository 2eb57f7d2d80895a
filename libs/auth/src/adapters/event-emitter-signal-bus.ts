import { Logger } from '@nestjs/common';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import { reportFailure } from '../domain/failure-report';
import { SignalBus } from '../domain/ports/events';
import type { AuthSignalName, AuthSignals } from '../domain/signals';

type Listener = (...args: unknown[]) => unknown;

/** Emits signals through the application's EventEmitter2. A listener that fails affects no other. */
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
      const { summary, stack } = reportFailure(error);
      this.logger.error(`A listener of ${name} failed: ${summary}`, stack);
    };
    try {
      // Not awaited: a listener may hang.
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
