import type { AuthSignalName, AuthSignals } from '../signals';

/** Emits signals to the application. Called after the commit. Does not throw. */
export abstract class SignalBus {
  abstract emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void;
}
