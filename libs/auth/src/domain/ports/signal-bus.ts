import type { AuthSignalName, AuthSignals } from '../signals';

/** Tells the host what has happened. Called after the commit, and never fails. */
export abstract class SignalBus {
  abstract emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void;
}
