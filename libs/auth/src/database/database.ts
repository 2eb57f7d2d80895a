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
import type { JoinedTransaction } from './joined-transaction';
import type { Query, Result, Row, Transaction, UnitOfWork } from './transaction';

/** The default time limit of an operation. */
const DATABASE_TIMEOUT_MS = 5_000;

/** The default maximum number of runs of an operation whose connection breaks or whose inserted key already exists. */
const MAX_RUNS = 3;

/**
 * The maximum number of runs of a transaction that conflicts. Such transactions are short, and each conflict lets one
 * transaction commit.
 */
const MAX_RUNS_IN_CONFLICT = 6;

/** The maximum factor of the pause between runs, which grows with each run. */
const MAX_BACKOFF = 3;

const NO_ROWS: Result = { rows: [], affected: 0 };

const RETRIED = { retryUnknownCommit: true };

export interface StatementOptions {
  /** The time limit in milliseconds, if it is shorter than the default of 5 seconds. */
  readonly withinMs?: number;
  /** Called when a failed run may have been committed, because its connection broke or its deadline passed. */
  readonly onUnknownOutcome?: () => void;
  /** Whether an operation whose connection breaks is run until the deadline, instead of at most three times. */
  readonly retryUntilDeadline?: boolean;
  /** Whether to retry only once, not until the deadline, if the server does not accept writes. */
  readonly failsFast?: boolean;
}

export interface AutocommitOptions extends StatementOptions {
  /** Returns whether the error means that no row matches. Such an error is neither thrown nor logged. */
  readonly meansNoRows?: ((error: unknown) => boolean) | undefined;
  /** Checks the result. If it throws a `NotWritableError`, the connection is replaced. */
  readonly checkServer?: (result: Result) => void;
}

export interface TransactionOptions extends StatementOptions {
  /**
   * Whether to run the transaction again if the connection broke at its COMMIT. The first run may have been committed:
   * the caller must recognize the result of the first run, or tolerate a second run.
   */
  readonly retryUnknownCommit?: boolean;
  /**
   * Whether the transaction locks each row by its primary key before it reads the row. Such a transaction is correct
   * at every isolation level, and needs no `SET TRANSACTION` on MySQL and MariaDB.
   */
  readonly anyIsolation?: boolean;
}

/**
 * Runs statements and transactions on the application's DataSource.
 *
 * By default, a transaction that conflicts is run up to six times, and an operation that loses its connection up to
 * three times. A transaction that may have been committed is run again only with `retryUnknownCommit`. If a server does
 * not accept writes, the operation is run again on other connections until the deadline (`Failover`), or only once if
 * `failsFast` is set. In a transaction of the application, few failures are retried. An `AuthError` is rethrown. Every
 * other failure becomes `database_unavailable`. Its log entry contains only the driver's code, names from the schema
 * and a hint, because a driver's message can contain the statement and its parameters.
 */
export abstract class Database {
  abstract readonly dialect: Dialect;
  /** Called for each failure that is thrown as `database_unavailable`. */
  onFailure: (kind: FailureKind) => void = () => undefined;
  protected readonly logger: Logger = new Logger('AuthDatabase');
  protected readonly answerWithinMs: number = DATABASE_TIMEOUT_MS;
  protected readonly pause: (ms: number) => Promise<void> = sleep;
  private readonly failover = new Failover();

  /**
   * Runs a transaction, which commits all of its statements or none.
   * @param tx the application's transaction to take part in, or null
   */
  transaction<T>(tx: JoinedTransaction | null, unit: UnitOfWork<T>, options: TransactionOptions = {}): Promise<T> {
    return this.runWithRetries(tx, options, (deadline) => {
      if (tx) return tx.runExclusive(() => this.runJoined(unit, tx, deadline));
      return this.runTransaction(unit, deadline, options);
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
    let isFirst = true;
    return this.runWithRetries(tx, { ...options, retryUnknownCommit: true }, (deadline) => {
      if (tx) return rowsOrNone(tx.runExclusive(() => this.runJoined(() => singleStatement(queryOf()), tx, deadline)));
      // Each further run is at READ COMMITTED, because a stricter default isolation level may have
      // caused a conflict.
      const run = isFirst
        ? this.runAutocommit(queryOf(), deadline, options.checkServer)
        : this.runTransaction(() => singleStatement(queryOf(), options.checkServer), deadline, {});
      isFirst = false;
      return rowsOrNone(run);
    });
  }

  /**
   * Returns the rows of a query that runs outside every transaction. For example, the guard authenticates requests
   * with such reads.
   */
  async read(query: Query): Promise<readonly Row[]> {
    return (await this.runWithRetries(null, RETRIED, (deadline) => this.runAutocommit(query, deadline))).rows;
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
  protected abstract runTransaction<T>(
    unit: UnitOfWork<T>,
    deadline: Deadline,
    options: TransactionOptions,
  ): Promise<T>;
  protected abstract runAutocommit(query: Query, deadline: Deadline, checkServer?: CheckServer): Promise<Result>;
  protected abstract runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T>;
  /** Runs a transaction in a savepoint of the application's transaction. Most failures roll back only the savepoint. */
  protected abstract runJoined<T>(unit: UnitOfWork<T>, joined: JoinedTransaction, deadline: Deadline): Promise<T>;
  /**
   * Replaces the connection of the application's transaction when the transaction ends, because the connection leads
   * to a server that does not accept writes.
   */
  protected abstract replaceAfter(joined: JoinedTransaction, error: unknown): Promise<void>;

  private async runWithRetries<T>(
    joined: JoinedTransaction | null,
    options: TransactionOptions,
    run: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const { retryUnknownCommit = false, withinMs = Infinity } = options;
    const mayRetry: ErrorTest = (error) => {
      // A deadlock may have rolled back the application's whole transaction, which only the application can run
      // again.
      if (joined) return isDuplicate(error) || error instanceof ConflictError;
      return (
        isRolledBack(error) || (isConnectionLost(error) && (retryUnknownCommit || !(error instanceof CommitError)))
      );
    };
    const retries: Retries = { mayRetry, options, pause: this.pause, failover: joined ? null : this.failover };
    let deadline: Deadline | undefined;
    const reportUnknownOutcome = (): void => {
      if (deadline?.outcomeUnknown) options.onUnknownOutcome?.();
    };
    try {
      const work = (started: Deadline): Promise<T> => {
        deadline = started;
        return withRetries(() => run(started).finally(reportUnknownOutcome), started, retries);
      };
      // The application must not continue while a statement of the library is in flight on its connection.
      return await (joined ? awaitWithDeadline : raceWithDeadline)(
        Math.max(1, Math.min(withinMs, this.answerWithinMs)),
        work,
      );
    } catch (error) {
      reportUnknownOutcome();
      if (error instanceof AuthError) throw error;
      if (joined && isNotWritable(error)) await this.replaceAfter(joined, error);
      // If the deadline ended the wait for a writable server, report why no server was writable, not the timeout.
      const cause = isTimeout(error) ? (retries.notWritable ?? error) : error;
      this.logger.error(`The database failed: ${describeFailure(cause)}`);
      this.onFailure(failureKind(cause));
      throw new DatabaseUnavailableError(failureKind(cause));
    }
  }
}

type ErrorTest = (error: unknown) => boolean;

type CheckServer = AutocommitOptions['checkServer'];

interface Retries {
  readonly mayRetry: ErrorTest;
  readonly options: StatementOptions;
  /** Waits before the next run. */
  readonly pause: (ms: number) => Promise<void>;
  /** Null in a transaction of the application, which only the application can run again. */
  readonly failover: Failover | null;
  /** The last error of a server that did not accept writes. */
  notWritable?: unknown;
}

function* singleStatement(query: Query, checkServer?: CheckServer): Transaction<Result> {
  const result = yield query;
  checkServer?.(result);
  return result;
}

async function withRetries<T>(run: () => Promise<T>, deadline: Deadline, retries: Retries): Promise<T> {
  const { mayRetry, options, pause, failover } = retries;
  let next = run;
  for (let attempt = 1; ;) {
    try {
      return await next();
    } catch (error) {
      if (deadline.hasPassed) throw error;
      if (failover && isFailingOver(error, retries)) {
        if (isNotWritable(error)) retries.notWritable = error;
        next = options.failsFast ? run : () => failover.runAgain(run, deadline);
        continue;
      }
      const mayRunAgain = attempt < maxRuns(error) || (options.retryUntilDeadline && isConnectionLost(error));
      if (!mayRunAgain || !mayRetry(error)) throw error;
      // The pause is random, so that conflicting transactions are unlikely to collide again.
      await pause(Math.min(attempt++, MAX_BACKOFF) * (20 + Math.random() * 60));
      deadline.failIfPassed();
    }
  }
}

function maxRuns(error: unknown): number {
  return isConflict(error) ? MAX_RUNS_IN_CONFLICT : MAX_RUNS;
}

/** Returns whether to run again because of a failover. Until it ends, a proxy may refuse or break connections. */
function isFailingOver(error: unknown, { mayRetry, options, notWritable }: Retries): boolean {
  if (notWritable === undefined) return isNotWritable(error);
  return !options.failsFast && (isNotWritable(error) || (isConnectionLost(error) && mayRetry(error)));
}

/** The pause between two attempts. */
const RETRY_AFTER_MS = 150;

/**
 * Retries operations whose server did not accept writes, until a server accepts writes or the deadline
 * passes. Meanwhile, one operation is retried at a time, so that the library does not open hundreds of
 * connections to a server that refuses them. When a retry finds a writable server, the waiting operations
 * are retried.
 */
export class Failover {
  /** The attempt in progress. Resolves to true if the attempt found a writable server. */
  private current: Promise<boolean> | null = null;
  private nextAt = 0;

  /** Runs the operation again, either after the attempt of another operation has succeeded, or as the next attempt. */
  async runAgain<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    while (this.current) {
      const succeeded = await this.current;
      deadline.failIfPassed();
      if (succeeded) return run();
    }
    return this.attempt(run, deadline);
  }

  private attempt<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    const outcome = this.runWhenDue(run, deadline);
    this.current = new Promise<boolean>((resolve) => {
      // If an attempt hangs, other operations wait only until the deadline of that attempt.
      const giveUp = (): void => resolve(false);
      deadline.onPassed(giveUp);
      outcome
        .then(
          () => resolve(true),
          (error: unknown) => resolve(!foundNoWritableServer(error)),
        )
        .finally(() => deadline.offPassed(giveUp));
    }).then((succeeded) => {
      this.current = null;
      this.nextAt = performance.now() + RETRY_AFTER_MS;
      return succeeded;
    });
    return outcome;
  }

  private async runWhenDue<T>(run: () => Promise<T>, deadline: Deadline): Promise<T> {
    const wait = this.nextAt - performance.now();
    if (wait > 0) await sleep(wait);
    deadline.failIfPassed();
    return run();
  }
}

function foundNoWritableServer(error: unknown): boolean {
  return isNotWritable(error) || isConnectionLost(error) || isTimeout(error);
}
