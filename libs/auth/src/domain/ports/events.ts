import type { AuthSignalName, AuthSignals } from '../signals';

/** Emits signals to the application, after the commit of the caller's transaction, if any. Does not throw. */
export abstract class SignalBus {
  abstract emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void;
}
