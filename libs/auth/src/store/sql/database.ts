import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthError } from '../../domain/errors';
import type { FailureKind } from '../../domain/metrics';
import type { Dialect } from './dialect';
import { CommitError, failureCode, failureKind, isConnectionLost, isRolledBack } from './failure';
import type { Query, Result, Unit } from './unit';

/** A database that has not answered by then "does not answer". */
const ANSWER_WITHIN_MS = 5_000;

const TRIES = 3;

/** What is special about a unit. */
export interface UnitTraits {
  /**
   * Whether the unit, run again after its COMMIT went through unnoticed, finds that out and comes to the same outcome.
   * Then a connection that broke at the COMMIT is no reason to give up either.
   */
  readonly repeatable?: boolean;
}

/**
 * Runs units of work on the host's DataSource.
 *
 * A unit that the database rolled back for the sake of another one, or whose connection broke, is run again, a bounded
 * number of times; but not if it may have been committed. Whatever else fails comes out as `database_unavailable`, and only the driver's code is logged: the text of a driver's error may
 * hold the statement and its parameters.
 */
export abstract class Database {
  abstract readonly dialect: Dialect;
  /** Told of each failure that is answered with `database_unavailable`. */
  onFailure: (kind: FailureKind) => void = () => undefined;
  protected readonly logger: Logger = new Logger('AuthDatabase');
  protected readonly answerWithinMs: number = ANSWER_WITHIN_MS;

  /** All of the unit, or nothing of it. */
  atomic<T>(unit: () => Unit<T>, { repeatable = false }: UnitTraits = {}): Promise<T> {
    return this.guarded((deadline) => this.runAtomic(unit, deadline), repeatable);
  }

  /** One statement, on its own, that may be repeated; reads go to the primary. */
  single(query: Query): Promise<Result> {
    return this.guarded((deadline) => this.runSingle(query, deadline), true);
  }

  /** The deadline is how work is given up whose caller has been answered: it is looked at before each statement. */
  protected abstract runAtomic<T>(unit: () => Unit<T>, deadline: AbortSignal): Promise<T>;
  protected abstract runSingle(query: Query, deadline: AbortSignal): Promise<Result>;

  private async guarded<T>(run: (deadline: AbortSignal) => Promise<T>, repeatable: boolean): Promise<T> {
    const isWorthAnotherTry = (error: unknown): boolean =>
      isRolledBack(error) || (isConnectionLost(error) && (repeatable || !(error instanceof CommitError)));
    try {
      return await within(this.answerWithinMs, (deadline) => withRetries(run, deadline, isWorthAnotherTry));
    } catch (error) {
      if (error instanceof AuthError) throw error;
      this.logger.error(`The database failed: ${failureCode(error)}`);
      this.onFailure(failureKind(error));
      throw new AuthError('database_unavailable', 'The database does not answer.');
    }
  }
}

async function withRetries<T>(
  run: (deadline: AbortSignal) => Promise<T>,
  deadline: AbortSignal,
  isWorthAnotherTry: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(deadline);
    } catch (error) {
      if (attempt === TRIES || deadline.aborted || !isWorthAnotherTry(error)) throw error;
      // At random, so that those who were in each other's way do not meet again.
      await sleep(attempt * (20 + Math.random() * 60));
    }
  }
}

/** Ends the wait, not the work: that one sees its deadline over and rolls back. */
async function within<T>(milliseconds: number, work: (deadline: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      deadline.abort();
      reject(Object.assign(new Error('no answer in time'), { code: 'TIMEOUT' }));
    }, milliseconds);
  });
  try {
    return await Promise.race([work(deadline.signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Stops work whose caller is gone, before it changes anything more. */
export function assertInTime(deadline: AbortSignal): void {
  if (deadline.aborted) throw Object.assign(new Error('too late'), { code: 'TIMEOUT' });
}
