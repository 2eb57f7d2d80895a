import { Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthError } from '../base/errors';
import type { FailureKind } from '../base/telemetry';
import { awaitWithDeadline, type Deadline, raceWithDeadline, TimeBudget } from './deadline';
import type { Dialect } from './dialect';
import {
  CommitError,
  ConflictError,
  DatabaseUnavailableError,
  describeFailure,
  failureKind,
  isConflict,
  isConnectionLost,
  isDuplicate,
  isNotWritable,
  isRolledBack,
  isTimeout,
} from './failure';
import { type JoinedTransaction, TransactionEndedError } from './joined-transaction';
import type { Query, Result, Row, Transaction, UnitOfWork } from './transaction';

/** The default time limit of an operation. */
const DATABASE_TIMEOUT_MS = 5_000;

/** The maximum number of runs of an operation whose inserted key already exists. */
const MAX_RUNS = 3;

/**
 * The maximum number of runs of a transaction that conflicts. Such transactions are short, and each conflict lets one
 * transaction commit.
 */
const MAX_RUNS_IN_CONFLICT = 6;

/** The maximum factor of the pause between runs, which grows with each run. */
const MAX_BACKOFF = 3;

/** The pause between two checks of whether a server accepts writes. */
const CHECK_AFTER_MS = 150;

const NO_ROWS: Result = { rows: [], affected: 0 };

const RETRIED = { retryUnknownCommit: true };

export interface StatementOptions {
  /** The time limit in milliseconds, if it is shorter than the default of 5 seconds. */
  readonly withinMs?: number;
  /** Called when a failed run may have been committed, because its connection broke or its deadline passed. */
  readonly onUnknownOutcome?: () => void;
  /** Whether to retry only a few times, not until the deadline, if a connection is lost or does not accept writes. */
  readonly failsFast?: boolean;
}

export interface AutocommitOptions extends StatementOptions {
  /** Returns whether the error means that no row matches. Such an error is neither thrown nor logged. */
  readonly meansNoRows?: ((error: unknown) => boolean) | undefined;
  /** Checks the result. If it throws a `NotWritableError`, the connection is replaced. */
  readonly checkServer?: (result: Result) => void;
}

/** How `Database` runs a statement in autocommit mode. */
export interface AutocommitRun extends Pick<AutocommitOptions, 'checkServer'> {
  /** Whether the statement may use the connection that is reserved for the guard's reads. */
  readonly isGuardRead?: boolean;
}

export interface TransactionOptions extends StatementOptions {
  /**
   * Whether to run the transaction again if the connection broke at its COMMIT. The first run may have been committed:
   * the caller must recognize the result of the first run, or tolerate a second run.
   */
  readonly retryUnknownCommit?: boolean;
}

/**
 * Runs statements and transactions on the application's database.
 *
 * A transaction that conflicts is run up to six times. An operation whose connection is lost, or leads to a server that
 * does not accept writes, is run again until the deadline, or a few times if `failsFast` is set. A transaction that may
 * have been committed is run again only with `retryUnknownCommit`. In a transaction of the application, few failures are
 * retried. An `AuthError` is rethrown. Every other failure becomes `database_unavailable`. Its log entry contains only
 * the driver's code, names from the schema and a hint, because a driver's message can contain the statement and its
 * parameters.
 */
export abstract class Database {
  abstract readonly dialect: Dialect;
  /** Called for each failure that is thrown as `database_unavailable`. */
  onFailure: (kind: FailureKind) => void = () => undefined;
  protected readonly logger: Logger = new Logger('AuthDatabase');
  protected readonly answerWithinMs: number = DATABASE_TIMEOUT_MS;
  protected readonly pause: (ms: number) => Promise<void> = sleep;
  /** The check in progress of whether a server accepts writes again. */
  private check: Promise<void> | null = null;

  /**
   * Runs a transaction, which commits all of its statements or none.
   * @param tx the application's transaction to take part in, or null
   */
  transaction<T>(tx: JoinedTransaction | null, unit: UnitOfWork<T>, options: TransactionOptions = {}): Promise<T> {
    return this.runWithRetries(tx, options, (deadline) => {
      if (tx) return tx.runExclusive(() => this.runJoined(unit, tx, deadline));
      return this.runTransaction(unit, deadline);
    });
  }

  /** Runs one statement that is safe to repeat, alone or in the application's transaction. Reads go to the primary. */
  run(tx: JoinedTransaction | null, query: Query | (() => Query), options: AutocommitOptions = {}): Promise<Result> {
    const queryOf = typeof query === 'function' ? query : (): Query => query;
    const rowsOrNone = (run: Promise<Result>): Promise<Result> =>
      run.catch((error: unknown) => {
        if (options.meansNoRows?.(error)) return NO_ROWS;
        throw error;
      });
    return this.runWithRetries(tx, { ...options, retryUnknownCommit: true }, (deadline) => {
      if (tx) return rowsOrNone(tx.runExclusive(() => this.runJoined(() => singleStatement(queryOf()), tx, deadline)));
      return rowsOrNone(this.runAutocommit(queryOf(), deadline, options));
    });
  }

  /**
   * Returns the rows of a query that runs outside every transaction. For example, the guard authenticates requests
   * with such reads.
   */
  async read(query: Query): Promise<readonly Row[]> {
    const run = (deadline: Deadline): Promise<Result> => this.runAutocommit(query, deadline, { isGuardRead: true });
    return (await this.runWithRetries(null, RETRIED, run)).rows;
  }

  /**
   * Returns the handle with which writes survive a rollback of the application's transaction: null, which is no
   * transaction. On SQLite, which has only one connection, such writes are part of the transaction.
   */
  outside(tx: JoinedTransaction | null): JoinedTransaction | null {
    return this.dialect === 'sqlite' ? tx : null;
  }

  /** Runs work with TypeORM's manager on the user entity. Has the time limit of a transaction. */
  withManager<T>(tx: JoinedTransaction | null, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.runWithRetries(tx, {}, (deadline) =>
      tx ? tx.runApplicationCode(() => work(tx.runner.manager)) : this.runWithManager(work, deadline),
    );
  }

  /** Returns warnings about a server or a proxy on which a guarantee does not hold. Called at startup. */
  abstract serverWarnings(): Promise<readonly string[]>;

  /** Starts the time budget that several statements of one operation share. */
  startBudget(): TimeBudget {
    return new TimeBudget(this.answerWithinMs);
  }

  /** Runs a transaction. Sends no COMMIT once the deadline has passed and the caller has received an error. */
  protected abstract runTransaction<T>(unit: UnitOfWork<T>, deadline: Deadline): Promise<T>;
  protected abstract runAutocommit(query: Query, deadline: Deadline, options: AutocommitRun): Promise<Result>;
  protected abstract runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T>;
  /** Runs a transaction in a savepoint of the application's transaction. Most failures roll back only the savepoint. */
  protected abstract runJoined<T>(unit: UnitOfWork<T>, joined: JoinedTransaction, deadline: Deadline): Promise<T>;

  /** Rejects if the server of the connection does not accept writes, or cannot be reached. */
  protected abstract assertWritable(deadline: Deadline): Promise<void>;

  private async runWithRetries<T>(
    joined: JoinedTransaction | null,
    options: TransactionOptions,
    run: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    // A call after the end of the transaction is a mistake of the application, not a failure of the database.
    if (joined && !joined.runner.isTransactionActive) throw new TransactionEndedError();
    // The application must not continue while a statement of the library is in flight on its connection.
    const within = joined ? awaitWithDeadline : raceWithDeadline;
    let deadline: Deadline | undefined;
    const failure: { last?: unknown } = {};
    const reportUnknownOutcome = (): void => {
      if (deadline?.outcomeUnknown) options.onUnknownOutcome?.();
    };
    try {
      const { withinMs = Infinity } = options;
      return await within(Math.max(1, Math.min(withinMs, this.answerWithinMs)), async (started) => {
        deadline = started;
        for (let attempt = 1; ; attempt++) {
          try {
            return await run(started).finally(reportUnknownOutcome);
          } catch (error) {
            const mayRunAgain = joined ? isRetriedInTransaction(error, attempt) : isRetried(error, attempt, options);
            if (started.hasPassed || !mayRunAgain) throw error;
            failure.last = error;
            await this.waitToRetry(error, attempt, started);
          }
          started.failIfPassed();
        }
      });
    } catch (error) {
      reportUnknownOutcome();
      if (error instanceof AuthError) throw error;
      // If the deadline ended the retries, report why they were needed, not the timeout.
      const cause = isTimeout(error) ? (failure.last ?? error) : error;
      this.logger.error(`The database failed: ${describeFailure(cause)}`);
      this.onFailure(failureKind(cause));
      throw new DatabaseUnavailableError(failureKind(cause));
    }
  }

  private async waitToRetry(error: unknown, attempt: number, deadline: Deadline): Promise<void> {
    if (isNotWritable(error)) {
      // The first retry may find a connection to another server. Then one check at a time is made for all operations, so
      // that the library does not open many connections to a server that refuses them.
      if (attempt > 1) await (this.check ??= this.untilWritable(deadline).finally(() => (this.check = null)));
      return;
    }
    // The pause is random, so that conflicting transactions are unlikely to collide again.
    await this.pause(Math.min(attempt, MAX_BACKOFF) * (20 + Math.random() * 60));
  }

  private async untilWritable(deadline: Deadline): Promise<void> {
    const isWritable = (): Promise<boolean> =>
      this.assertWritable(deadline).then(
        () => true,
        () => false,
      );
    do await sleep(CHECK_AFTER_MS);
    while (!deadline.hasPassed && !(await isWritable()));
  }
}

function* singleStatement(query: Query): Transaction<Result> {
  return yield query;
}

/** A deadlock may have rolled back the application's whole transaction, which only the application can run again. */
function isRetriedInTransaction(error: unknown, attempt: number): boolean {
  return attempt < maxRuns(error) && (isDuplicate(error) || error instanceof ConflictError);
}

function isRetried(error: unknown, attempt: number, options: TransactionOptions): boolean {
  const { failsFast, retryUnknownCommit } = options;
  if (isNotWritable(error)) return !failsFast || attempt === 1;
  if (isConnectionLost(error)) {
    return (retryUnknownCommit || !(error instanceof CommitError)) && (!failsFast || attempt < MAX_RUNS);
  }
  return isRolledBack(error) && attempt < maxRuns(error);
}

function maxRuns(error: unknown): number {
  return isConflict(error) ? MAX_RUNS_IN_CONFLICT : MAX_RUNS;
}
