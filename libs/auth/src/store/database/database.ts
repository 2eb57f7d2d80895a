import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { AuthError } from '../../domain/errors';
import type { FailureKind } from '../../domain/metrics';
import { TimeBudget, raceWithDeadline, awaitWithDeadline, type Deadline } from './deadline';
import type { Dialect } from './dialect';
import { Failover } from './failover';
import { CommitError, ConflictError, DatabaseUnavailableError, describeFailure, failureKind } from './failure';
import { isConflict, isConnectionLost, isDuplicate, isNotWritable, isRolledBack, isTimeout } from './failure';
import { currentTransaction, type JoinedTransaction } from './joined-transaction';
import type { Query, Result, Row, Transaction, UnitOfWork } from './transaction';

/** The longest that an operation may take. */
const DATABASE_TIMEOUT_MS = 5_000;

/** How often an operation is run in all if its connection breaks, or its new key was taken. */
const MAX_RUNS = 3;

/** The same for a transaction that conflicts with others: those are short, and each conflict lets one of them through. */
const MAX_RUNS_IN_CONFLICT = 6;

/** The wait before the next run grows up to this factor. */
const MAX_BACKOFF = 3;

const NO_ROWS: Result = { rows: [], affected: 0 };

export interface StatementOptions {
  /** The longest it may take, if that is shorter than for every operation. */
  readonly withinMs?: number;
  /** Called when a run failed that may have been committed: its connection broke, or its time was over. */
  readonly onUnknownOutcome?: () => void;
  /** Whether a run whose connection broke is followed by others until the deadline, not by two. */
  readonly retryUntilDeadline?: boolean;
  /** Whether to fail at the second server that takes no writes, instead of waiting for another one until the deadline. */
  readonly failsFast?: boolean;
}

export interface AutocommitOptions extends StatementOptions {
  /** Which errors mean that no row matches. They are neither thrown nor logged. */
  readonly matchesNothingAfter?: ((error: unknown) => boolean) | undefined;
  /** Judges the server by the result. By throwing a `NotWritableError` it has the connection replaced. */
  readonly judge?: (result: Result) => void;
}

export interface TransactionOptions extends StatementOptions {
  /**
   * Whether to run the transaction again if the connection broke at its COMMIT. The first run may have been committed: the
   * caller must recognise its result, or tolerate a second run.
   */
  readonly retryUnknownCommit?: boolean;
  /**
   * Whether the transaction locks each row by its primary key before it reads it. Then it is correct at every isolation
   * level, and MySQL and MariaDB are spared a `SET TRANSACTION`.
   */
  readonly anyIsolation?: boolean;
}

/**
 * Runs statements and transactions on the application's DataSource.
 *
 * What the database rolled back in favour of another transaction is run again, six runs in all; what lost its connection,
 * three. What may have been committed is run again only with `retryUnknownCommit`. What found a server that takes no writes
 * is run again on other connections until the deadline (`Failover`). An `AuthError` is thrown on. Every other failure becomes
 * `database_unavailable`. What is logged of it is the driver's code, what it names of the schema and a hint: the text of a
 * driver's error may contain the statement and its parameters.
 */
export abstract class Database {
  abstract readonly dialect: Dialect;
  /** Called for each failure that leaves as `database_unavailable`. */
  onFailure: (kind: FailureKind) => void = () => undefined;
  protected readonly logger: Logger = new Logger('AuthDatabase');
  protected readonly answerWithinMs: number = DATABASE_TIMEOUT_MS;
  protected readonly pause: (ms: number) => Promise<void> = sleep;
  private readonly failover = new Failover();

  /** Commits all statements of the transaction, or none. */
  transaction<T>(unit: UnitOfWork<T>, options: TransactionOptions = {}): Promise<T> {
    return this.runWithRetries(options, (deadline, joined) => {
      if (joined) return joined.runExclusive(() => this.runJoined(unit, joined, deadline));
      return this.runTransaction(unit, deadline, options);
    });
  }

  /** One statement that commits itself and may be run again. Reads go to the primary. */
  autocommit(query: Query | (() => Query), options: AutocommitOptions = {}): Promise<Result> {
    const queryOf = typeof query === 'function' ? query : (): Query => query;
    const rowsOrNone = (run: Promise<Result>): Promise<Result> =>
      run.catch((error: unknown) => {
        if (options.matchesNothingAfter?.(error)) return NO_ROWS;
        throw error;
      });
    let isFirst = true;
    return this.runWithRetries({ ...options, retryUnknownCommit: true }, (deadline, joined) => {
      if (joined) return rowsOrNone(joined.runExclusive(() => this.runJoined(() => only(queryOf()), joined, deadline)));
      // After a conflict with READ COMMITTED: the application's isolation level may be stricter.
      const run = isFirst
        ? this.runAutocommit(queryOf(), deadline, options.judge)
        : this.runTransaction(() => only(queryOf(), options.judge), deadline, {});
      isFirst = false;
      return rowsOrNone(run);
    });
  }

  /** A read outside of every transaction, also where the caller takes part in one: of a guarded request, for example. */
  async read(query: Query): Promise<readonly Row[]> {
    return (await this.runWithRetries({ retryUnknownCommit: true }, (deadline) => this.runAutocommit(query, deadline)))
      .rows;
  }

  /** What TypeORM does for the library with the application's entities, within the same bounds. */
  withManager<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.runWithRetries({}, (deadline, joined) =>
      joined ? joined.runExclusive(() => work(joined.runner.manager)) : this.runWithManager(work, deadline),
    );
  }

  /** What of the server, or of a proxy before it, breaks what the library promises. For the start of the application. */
  abstract serverWarnings(): Promise<readonly string[]>;

  /** The time that several statements of one operation have together. */
  startBudget(): TimeBudget {
    return new TimeBudget(this.answerWithinMs);
  }

  /** The deadline stops work whose caller has been answered: it is checked before each statement. */
  protected abstract runTransaction<T>(
    unit: UnitOfWork<T>,
    deadline: Deadline,
    options: TransactionOptions,
  ): Promise<T>;
  protected abstract runAutocommit(query: Query, deadline: Deadline, judge?: Judge): Promise<Result>;
  protected abstract runWithManager<T>(work: (manager: EntityManager) => Promise<T>, deadline: Deadline): Promise<T>;
  /** Runs a transaction in a savepoint of the application's: a failure undoes it, and none of the application's work. */
  protected abstract runJoined<T>(unit: UnitOfWork<T>, joined: JoinedTransaction, deadline: Deadline): Promise<T>;
  /** Replaces the connection of the application's transaction, which leads to a server that takes no writes, when that ends. */
  protected abstract replaceAfter(joined: JoinedTransaction, error: unknown): Promise<void>;

  private async runWithRetries<T>(
    options: TransactionOptions,
    run: (deadline: Deadline, joined: JoinedTransaction | undefined) => Promise<T>,
  ): Promise<T> {
    const { retryUnknownCommit = false, withinMs = Infinity } = options;
    const joined = currentTransaction();
    const mayRetry: ErrorTest = (error) => {
      // A deadlock may have rolled back the whole transaction of the application, which alone can run it again.
      if (joined) return isDuplicate(error) || error instanceof ConflictError;
      return (
        isRolledBack(error) || (isConnectionLost(error) && (retryUnknownCommit || !(error instanceof CommitError)))
      );
    };
    const retries: Retries = { mayRetry, options, pause: this.pause, failover: joined ? null : this.failover };
    let deadline: Deadline | undefined;
    const noteOutcome = (): void => {
      if (deadline?.outcomeUnknown) options.onUnknownOutcome?.();
    };
    try {
      const work = (started: Deadline): Promise<T> => {
        deadline = started;
        return withRetries(() => run(started, joined).finally(noteOutcome), started, retries);
      };
      // The application must not continue while a statement of the library is still under way on its connection.
      return await (joined ? awaitWithDeadline : raceWithDeadline)(
        Math.max(1, Math.min(withinMs, this.answerWithinMs)),
        work,
      );
    } catch (error) {
      noteOutcome();
      if (error instanceof AuthError) throw error;
      if (joined && isNotWritable(error)) await this.replaceAfter(joined, error);
      // The wait for a writable server ends with the deadline, which is not what is wrong.
      const cause = isTimeout(error) ? (retries.notWritable ?? error) : error;
      this.logger.error(`The database failed: ${describeFailure(cause)}`);
      this.onFailure(failureKind(cause));
      throw new DatabaseUnavailableError(failureKind(cause));
    }
  }
}

type ErrorTest = (error: unknown) => boolean;
type Judge = AutocommitOptions['judge'];

interface Retries {
  readonly mayRetry: ErrorTest;
  readonly options: StatementOptions;
  /** Waits before the next run. */
  readonly pause: (ms: number) => Promise<void>;
  /** Null in a transaction of the application, which alone can run it again. */
  readonly failover: Failover | null;
  /** The last error of a server that takes no writes. */
  notWritable?: unknown;
}

function* only(query: Query, judge?: Judge): Transaction<Result> {
  const result = yield query;
  judge?.(result);
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
      // At random, so that transactions that conflicted do not meet again.
      await pause(Math.min(attempt++, MAX_BACKOFF) * (20 + Math.random() * 60));
      deadline.failIfPassed();
    }
  }
}

function maxRuns(error: unknown): number {
  return isConflict(error) ? MAX_RUNS_IN_CONFLICT : MAX_RUNS;
}

/** Whether another server may soon be there. Until then a proxy may refuse connections, or break them. */
function isFailingOver(error: unknown, { mayRetry, options, notWritable }: Retries): boolean {
  if (notWritable === undefined) return isNotWritable(error);
  return !options.failsFast && (isNotWritable(error) || (isConnectionLost(error) && mayRetry(error)));
}
