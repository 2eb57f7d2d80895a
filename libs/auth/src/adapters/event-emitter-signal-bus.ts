import { Logger } from '@nestjs/common';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import { toFailureReport } from '../domain/failure-report';
import { SignalBus } from '../domain/ports/events';
import type { AuthSignalName, AuthSignals } from '../domain/signals';

type Listener = (...args: unknown[]) => unknown;

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
