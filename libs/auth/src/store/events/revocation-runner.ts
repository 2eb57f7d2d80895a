import { Injectable, Logger } from '@nestjs/common';
import type { NewAuthEvent } from '../../domain/auth-event';
import { AuthError } from '../../domain/errors';
import { Database, type StatementOptions } from '../database/database';
import type { TimeBudget } from '../database/deadline';
import { withLockTimeout } from '../database/dialect';
import { isLockTimeout, LogLockedError } from '../database/failure';
import { currentTransaction } from '../database/joined-transaction';
import type { Step, Transaction } from '../database/transaction';
import { EventWriter } from './event-writer';

/** Writes the events of a revocation. */
export type WriteEvents = (events: readonly NewAuthEvent[]) => Step<void>;

/**
 * Runs revocations. A revocation must not fail because of its events. If the events cannot be
 * written, for example because another transaction keeps the event log locked, the revocation is
 * run again without them, and the loss is logged.
 */
@Injectable()
export class RevocationRunner {
  private readonly logger = new Logger('AuthEvents');

  constructor(
    private readonly database: Database,
    private readonly events: EventWriter,
  ) {}

  /**
   * Runs a revocation.
   * @param revocation receives the function that writes its events
   * @param budget the remaining time, if the revocation is part of a longer operation
   */
  async run<T>(revocation: (write: WriteEvents) => Transaction<T>, budget?: TimeBudget): Promise<T> {
    const options = (): StatementOptions => (budget ? { withinMs: budget.remainingMs } : {});
    const write = this.writeUnlessLocked.bind(this);
    let isWriting = false;
    const trackedWrite: WriteEvents = function* (events) {
      isWriting = true;
      yield* write(events);
      isWriting = false;
    };
    try {
      return await this.database.transaction(() => {
        isWriting = false;
        return revocation(trackedWrite);
      }, options());
    } catch (error) {
      if (!isWriting || !(error instanceof AuthError)) throw error;
      let lost: string[] = [];
      const outcome = await this.database.transaction(() => {
        lost = [];
        // eslint-disable-next-line require-yield -- nothing is written
        return revocation(function* (events): Step<void> {
          lost.push(...events.map(({ event }) => event));
        });
      }, options());
      this.logger.error(
        'A change was stored without its events, because the event log could not be written. ' +
          `Lost events: ${lost.join(', ')}`,
      );
      return outcome;
    }
  }

  /** Writes events. Fails after two seconds if the event log is locked, except in the application's transaction. */
  private *writeUnlessLocked(events: readonly NewAuthEvent[]): Step<void> {
    if (events.length === 0) return;
    // The application decides how long its own transactions wait.
    if (currentTransaction()) return yield* this.events.write(events);
    const { begin, end } = withLockTimeout(this.database.dialect);
    for (const query of begin) yield query;
    try {
      yield* this.events.write(events);
    } catch (error) {
      throw isLockTimeout(error) ? new LogLockedError() : error;
    } finally {
      for (const query of end) yield query;
    }
  }
}
