import type { INestApplicationContext } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { AuthSignalName, AuthSignals } from '../history/signals';

/** A signal that was emitted. */
export type RecordedSignal = {
  readonly [Name in AuthSignalName]: { readonly name: Name; readonly payload: AuthSignals[Name] };
}[AuthSignalName];

const NAMES: Readonly<Record<AuthSignalName, true>> = {
  user_logged_in: true,
  user_logged_out: true,
  login_failed: true,
  login_blocked: true,
  token_reuse_detected: true,
  session_network_changed: true,
  lost_commits_suspected: true,
  session_limit_reached: true,
  brute_force_threshold_hit: true,
  password_changed: true,
  password_reset: true,
};

/** Records the signals that an application emits. */
export class SignalRecorder {
  /** The recorded signals, in the order of their emission. */
  readonly all: RecordedSignal[] = [];

  constructor(app: INestApplicationContext) {
    app.get(EventEmitter2, { strict: false }).onAny((name: string | string[], payload: unknown) => {
      if (typeof name === 'string' && Object.hasOwn(NAMES, name)) this.all.push({ name, payload } as RecordedSignal);
    });
  }

  /** Returns the payloads of one signal, in the order of their emission. */
  of<Name extends AuthSignalName>(name: Name): AuthSignals[Name][] {
    return this.all.filter((signal) => signal.name === name).map(({ payload }) => payload as AuthSignals[Name]);
  }

  /** Removes the recorded signals. */
  clear(): void {
    this.all.length = 0;
  }
}

/** Starts recording the signals of an application. Call it after `app.init()`. */
export function recordSignals(app: INestApplicationContext): SignalRecorder {
  return new SignalRecorder(app);
}
