import type { AuthEventEntry } from '../auth-event';

/** The durable log, for reading; rows are written by the transitions that they tell of. */
export abstract class EventLog {
  /** The newest events of the user (as text), newest first. */
  abstract latest(userId: string, limit: number): Promise<readonly AuthEventEntry[]>;
}
