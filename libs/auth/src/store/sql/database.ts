import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { AuthError } from '../../domain/errors';
import type { FailureKind } from '../../domain/metrics';
import { within, withinOrLater, type Deadline } from './deadline';
import type { Dialect } from './dialect';
import { CommitError, failureCode, failureKind, isConnectionLost, isDuplicate, isRolledBack } from './failure';
import { currentTransaction, type JoinedTransaction } from './joined-transaction';
import type { Query, Result, Row, Unit } from './unit';

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
  /**
   * Whether the unit writes with one statement at the most, which then needs no transaction around it, but must be repeatable,
   * and `unlessLate` where it would do harm later. Where somebody was in its way it is tried again in one: the host's own isolation may be a stricter one.
   */
  readonly writesOnce?: boolean;
}

/**
 * Runs units of work on the host's DataSource.
 *
 * A unit that the database rolled back for the sake of another one, or whose connection broke, is run again, a bounded
 * number of times; but not if it may have been committed. Whatever else fails comes out as `database_unavailable`, and only the driver's code
 * is logged: the text of a driver's error may hold the statement and its parameters.
 */
export abstract class Database {
  abstract readonly dialect: Dialect;
  /** Told of each failure that is answered with `database_unavailable`. */
  onFailure: (kind: FailureKind) => void = () => undefined;
  protected readonly logger: Logger = new Logger('AuthDatabase');
  protected readonly answerWithinMs: number = ANSWER_WITHIN_MS;

  /** All of the unit, or nothing of it. A unit that writes once is told whether it runs without a transaction. */
  atomic<T>(
    unit: (isUnbound: boolean) => Unit<T>,
    { repeatable = false, writesOnce = false }: UnitTraits = {},
  ): Promise<T> {
    let isFirst = true;
    return this.guarded(repeatable || writesOnce, (deadline, joined) => {
      const bound = (): Unit<T> => unit(false);
      if (joined) return joined.inTurn(() => this.runJoined(bound, joined, deadline));
      const isUnbound = writesOnce && isFirst;
      isFirst = false;
      return isUnbound ? this.runUnbound(unit, deadline) : this.runAtomic(bound, deadline);
    });
  }

  /** One statement, on its own, that may be repeated; reads go to the primary. */
  single(query: Query): Promise<Result> {
    return this.guarded(true, (deadline, joined) =>
      joined ? this.atomic(() => only(query)) : this.runSingle(query, deadline),
    );
  }

  /** The read of every guarded request: prepared once, on the primary, and never inside an open transaction. */
  async lookUp(query: Query): Promise<readonly Row[]> {
    return (await this.guarded(true, (deadline) => this.runPrepared(query, deadline))).rows;
  }

  /** What TypeORM does for the library with the host's entities, within the same bounds. */
  withManager<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.guarded(false, (deadline, joined) =>
      joined ? joined.inTurn(() => work(joined.runner.manager)) : this.runWithManager(work, deadline),
    );
  }

  /** The deadline is how work is given up whose caller has been answered: it is looked at before each statement. */
  protected abstract runAtomic<T>(unit: () => Unit<T>, deadline: Deadline): Promise<T>;
  /** A unit of one write: where no transaction is needed for that, without one. */
  protected abstract runUnbound<T>(unit: (isUnbound: boolean) => Unit<T>, deadline: Deadline): Promise<T>;
  protected abstract runSingle(query: Query, deadline: Deadline): Promise<Result>;
  /** A statement that is asked often, on its own: outside of every transaction. */
  protected abstract runPrepared(query: Query, deadline: Deadline): Promise<Result>;
  protected abstract runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T>;
  /** A unit as a part of the host's transaction: what fails is undone, and the host's work before it is not. */
  protected abstract runJoined<T>(unit: () => Unit<T>, transaction: JoinedTransaction, deadline: Deadline): Promise<T>;

  private async guarded<T>(
    repeatable: boolean,
    run: (deadline: Deadline, joined: JoinedTransaction | undefined) => Promise<T>,
  ): Promise<T> {
    const joined = currentTransaction();
    const isWorthAnotherTry = (error: unknown): boolean => {
      // A deadlock may have rolled back all of the host's transaction, which is the host's to try again.
      if (joined) return isDuplicate(error);
      return isRolledBack(error) || (isConnectionLost(error) && (repeatable || !(error instanceof CommitError)));
    };
    try {
      const work = (deadline: Deadline): Promise<T> =>
        withRetries(() => run(deadline, joined), deadline, isWorthAnotherTry);
      // The host must not go on while a statement of the library's is still under way on its connection.
      return await (joined ? withinOrLater : within)(this.answerWithinMs, work);
    } catch (error) {
      if (error instanceof AuthError) throw error;
      this.logger.error(`The database failed: ${failureCode(error)}`);
      this.onFailure(failureKind(error));
      throw new AuthError('database_unavailable', 'The database does not answer.');
    }
  }
}

function* only(query: Query): Unit<Result> {
  return yield query;
}

async function withRetries<T>(
  run: () => Promise<T>,
  deadline: Deadline,
  isWorthAnotherTry: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === TRIES || deadline.isOver || !isWorthAnotherTry(error)) throw error;
      // At random, so that those who were in each other's way do not meet again.
      await sleep(attempt * (20 + Math.random() * 60));
      deadline.assertInTime();
    }
  }
}
