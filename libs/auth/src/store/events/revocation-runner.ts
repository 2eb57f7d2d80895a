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

/** How a revocation writes its events. */
export type WriteEvents = (events: readonly NewAuthEvent[]) => Step<void>;

/**
 * Runs revocations. A revocation must not fail because its events cannot be written, or not soon: then it is run again
 * without them, and the loss is logged.
 */
@Injectable()
export class RevocationRunner {
  private readonly logger = new Logger('AuthEvents');

  constructor(
    private readonly database: Database,
    private readonly events: EventWriter,
  ) {}

  /**
   * @param revocation is given the way to write its events
   * @param budget the time that is left, where the revocation is part of a longer operation
   */
  async run<T>(revocation: (write: WriteEvents) => Transaction<T>, budget?: TimeBudget): Promise<T> {
    const options = (): StatementOptions => (budget ? { withinMs: budget.remainingMs } : {});
    const write = this.writeUnlessLocked.bind(this);
    let isWriting = false;
    const observed: WriteEvents = function* (events) {
      isWriting = true;
      yield* write(events);
      isWriting = false;
    };
    try {
      return await this.database.transaction(() => {
        isWriting = false;
        return revocation(observed);
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
      this.logger.error(`Sessions were ended, but the event log could not be written. Lost: ${lost.join(', ')}`);
      return outcome;
    }
  }

  /** Does not wait for a log that another transaction has locked. */
  private *writeUnlessLocked(events: readonly NewAuthEvent[]): Step<void> {
    if (events.length === 0) return;
    // How long a transaction of the application waits is its own decision.
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
