import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthError } from '../../domain/errors';
import type { Dialect } from './dialect';
import { failureCode, isWorthAnotherTry } from './failure';
import type { Query, Result, Unit } from './unit';

/** A database that has not answered by then "does not answer". */
export const ANSWER_WITHIN_MS = 5_000;

const TRIES = 3;

/** How a unit of work is given up when its caller has been answered: it asks before each statement. */
export interface Deadline {
  readonly over: boolean;
}

/**
 * Runs units of work on the host's DataSource.
 *
 * A unit that the database rolled back for the sake of another one is run again, a bounded number of times. Whatever
 * else fails comes out as `database_unavailable`, and only the driver's code is logged: the text of a driver's error may
 * hold the statement and its parameters.
 */
export abstract class Database {
  abstract readonly dialect: Dialect;
  protected readonly logger: Logger = new Logger('AuthDatabase');

  /** All of the unit, or nothing of it. */
  atomic<T>(unit: () => Unit<T>): Promise<T> {
    return this.guarded((deadline) => this.runAtomic(unit, deadline));
  }

  /** One statement, on its own; reads go to the primary. */
  single(query: Query): Promise<Result> {
    return this.guarded((deadline) => this.runSingle(query, deadline));
  }

  protected abstract runAtomic<T>(unit: () => Unit<T>, deadline: Deadline): Promise<T>;
  protected abstract runSingle(query: Query, deadline: Deadline): Promise<Result>;

  private async guarded<T>(run: (deadline: Deadline) => Promise<T>): Promise<T> {
    try {
      return await within(ANSWER_WITHIN_MS, (deadline) => this.withRetries(run, deadline));
    } catch (error) {
      if (error instanceof AuthError) throw error;
      this.logger.error(`The database failed: ${failureCode(error)}`);
      throw new AuthError('database_unavailable', 'The database does not answer.');
    }
  }

  private async withRetries<T>(run: (deadline: Deadline) => Promise<T>, deadline: Deadline): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run(deadline);
      } catch (error) {
        if (attempt === TRIES || deadline.over || !isWorthAnotherTry(error)) throw error;
        await sleep(attempt * (20 + Math.random() * 60));
      }
    }
  }
}

/** Ends the wait, not the work: that one sees its deadline over and rolls back. */
async function within<T>(milliseconds: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const deadline = { over: false };
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      deadline.over = true;
      reject(Object.assign(new Error('no answer in time'), { code: 'TIMEOUT' }));
    }, milliseconds);
  });
  try {
    return await Promise.race([work(deadline), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Stops work whose caller is gone, before it changes anything more. */
export function assertInTime(deadline: Deadline): void {
  if (deadline.over) throw Object.assign(new Error('too late'), { code: 'TIMEOUT' });
}
