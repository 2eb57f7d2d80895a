// The entry point for the tests of applications: `import { ... } from 'nestjs-session-auth/testing'`.
export { actingAs } from './acting-as';
export type { ActingSession } from './acting-as';
export { CheapPasswordHasher } from './cheap-password-hasher';
export { DrivenClock } from './driven-clock';
export { recordSignals, SignalRecorder } from './record-signals';
export type { RecordedSignal } from './record-signals';
/** The injection token of the clock: `overrideProvider(Clock).useValue(new DrivenClock())`. */
export { Clock } from '../domain/ports/platform';
