import { Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { OncePerMinute } from '../base/clock';
import { AuthError } from '../base/errors';
import { describeFailure, failureCode, meaningOf } from '../base/failures';
import type { FailureKind } from '../base/telemetry';
import { Deadline, TimeBudget } from './deadline';
import type { Dialect } from './dialect';
import { CommitError, DatabaseUnavailableError, failureKind, isConnectionLost, isNotWritable } from './failure';
import { type JoinedTransaction, transactionEnded } from './joined-transaction';
import { type Query, type Result, RolledBack, type Row, type Transaction, type UnitOfWork } from './transaction';

/** PostgreSQL's code for a character that the encoding of the database does not have. */
const UNTRANSLATABLE = '22P05';

const MAX_RUNS = 3;

/** Each conflict lets one transaction commit. */
const MAX_RUNS_IN_CONFLICT = 6;

export interface AutocommitOptions {
  /** The time limit in milliseconds, if it is shorter than the default of 5 seconds. */
  readonly withinMs?: number;
  /** Called when a failed run may have been committed, because its connection broke or its deadline passed. */
  readonly onUnknownOutcome?: () => void;
  /** Whether to retry only a few times, not until the deadline, if a connection is lost or does not accept writes. */
  readonly failsFast?: boolean;
  /** Returns whether the error means that no row matches. Such an error is neither thrown nor logged. */
  readonly meansNoRows?: (error: unknown) => boolean;
  /** Throws if the server does not accept writes according to the result. The connection is then replaced. */
  readonly checkServer?: (result: Result) => void;
  readonly isGuardRead?: boolean;
}

export interface TransactionOptions extends Pick<AutocommitOptions, 'withinMs' | 'onUnknownOutcome' | 'failsFast'> {
  /** Whether to run the transaction again if its COMMIT may have succeeded. The caller must tolerate both outcomes. */
  readonly retryUnknownCommit?: boolean;
}

/** Runs statements and transactions. Logs every failure except an `AuthError`, and throws `database_unavailable`. */
export abstract class Database {
  abstract readonly dialect: Dialect;
  onFailure: (kind: FailureKind) => void = () => undefined;
  private readonly logger: Logger = new Logger('AuthDatabase');
  /** By the description of a failure, which contains only its code and the names of tables and columns. */
  private readonly logLimits = new Map<string, OncePerMinute>();
  private readonly answerWithinMs: number = 5_000;
  private readonly pause: (ms: number) => Promise<void> = sleep;
  /** The check in progress of whether the server accepts writes again. */
  private check: Promise<void> | null = null;
  /** Whether the database cannot store a character of a text, so that texts for display are stored as ASCII. */
  storesAscii = false;

  /** Runs a transaction, on its own or as a part of the application's transaction `tx`. */
  transaction<T>(tx: JoinedTransaction | null, unit: UnitOfWork<T>, options: TransactionOptions = {}): Promise<T> {
    return this.runWithRetries(tx, options, async (deadline) => {
      try {
        if (!tx) return await this.runTransaction(unit, deadline);
        return await tx.runExclusive(() => this.runJoined(unit, tx, deadline));
      } catch (error) {
        if (error instanceof RolledBack) return error.outcome as T;
        throw error;
      }
    });
  }

  /** Runs one statement that is safe to repeat, alone or in the application's transaction. Reads go to the primary. */
  run(tx: JoinedTransaction | null, query: Query | (() => Query), options: AutocommitOptions = {}): Promise<Result> {
    return this.runWithRetries(tx, options, async (deadline) => {
      const sent = typeof query === 'function' ? query() : query;
      try {
        if (!tx) return await this.runAutocommit(sent, deadline, options);
        return await tx.runExclusive(() => this.runJoined(() => singleStatement(sent), tx, deadline));
      } catch (error) {
        if (options.meansNoRows?.(error)) return { rows: [], affected: 0 };
        throw error;
      }
    });
  }

  /** Returns the rows of a query of the guard, which may use the connection reserved for it. */
  async read(query: Query): Promise<readonly Row[]> {
    const run = (deadline: Deadline): Promise<Result> => this.runAutocommit(query, deadline, { isGuardRead: true });
    return (await this.runWithRetries(null, {}, run)).rows;
  }

  /** Returns the handle with which writes survive a rollback of the application's transaction, except on SQLite. */
  outside(tx: JoinedTransaction | null): JoinedTransaction | null {
    return this.dialect === 'sqlite' ? tx : null;
  }

  /** Runs work with TypeORM's manager on the user entity. Has the time limit of a transaction. */
  withManager<T>(tx: JoinedTransaction | null, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.runWithRetries(tx, {}, (deadline) => this.runWithManager(work, tx, deadline));
  }

  /** Returns a text for display with the characters that the database can store. */
  storable(text: string): string {
    return this.storesAscii ? text.replace(/[^\x20-\x7e]/g, '?') : text;
  }

  serverWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  startBudget(): TimeBudget {
    return new TimeBudget(this.answerWithinMs);
  }

  /** Runs a transaction. Sends no COMMIT once the deadline has passed and the caller has received an error. */
  protected abstract runTransaction<T>(unit: UnitOfWork<T>, deadline: Deadline): Promise<T>;
  protected abstract runAutocommit(query: Query, deadline: Deadline, options: AutocommitOptions): Promise<Result>;
  protected abstract runWithManager<T>(
    work: (manager: EntityManager) => Promise<T>,
    joined: JoinedTransaction | null,
    deadline: Deadline,
  ): Promise<T>;
  /** Runs a transaction in a savepoint of the application's transaction. Most failures roll back only the savepoint. */
  protected abstract runJoined<T>(unit: UnitOfWork<T>, joined: JoinedTransaction, deadline: Deadline): Promise<T>;

  protected isWritable(deadline: Deadline): Promise<boolean> {
    return Promise.resolve(!deadline.hasPassed);
  }

  private async runWithRetries<T>(
    joined: JoinedTransaction | null,
    options: TransactionOptions,
    run: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    // A call after the end of the transaction is a mistake of the application, not a failure of the database.
    if (joined && !joined.runner.isTransactionActive) throw transactionEnded();
    const { withinMs = Infinity, onUnknownOutcome } = options;
    const deadline = new Deadline(Math.max(1, Math.min(withinMs, this.answerWithinMs)), onUnknownOutcome);
    let retried: unknown;
    const runs = async (): Promise<T> => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await run(deadline);
        } catch (error) {
          const mayRun = this.storeAsciiAfter(error, attempt) || mayRunAgain(error, attempt, options, joined !== null);
          if (deadline.hasPassed || !mayRun) throw error;
          retried = error;
          await this.waitToRetry(error, attempt, deadline);
        }
        deadline.failIfPassed();
      }
    };
    try {
      // The application must not continue while a statement of the library is in flight on its connection.
      return await (joined ? runs() : deadline.race(runs()));
    } catch (error) {
      if (error instanceof AuthError) throw error;
      // If the deadline ended the retries, report why they were needed, not the timeout.
      const cause = failureCode(error) === 'TIMEOUT' ? (retried ?? error) : error;
      this.logFailure(describeFailure(cause));
      this.onFailure(failureKind(cause));
      throw new DatabaseUnavailableError(failureKind(cause));
    } finally {
      deadline.clear();
    }
  }

  /** Logs each failure once a minute, because during an outage every request fails. */
  private logFailure(description: string): void {
    const limit = this.logLimits.get(description) ?? new OncePerMinute({ now: Date.now });
    this.logLimits.set(description, limit);
    limit.run(() => this.logger.error(`The database failed: ${description}`));
  }

  private storeAsciiAfter(error: unknown, attempt: number): boolean {
    if (failureCode(error) !== UNTRANSLATABLE) return false;
    this.storesAscii = true;
    return attempt === 1;
  }

  private async waitToRetry(error: unknown, attempt: number, deadline: Deadline): Promise<void> {
    // Random, so that conflicting transactions are unlikely to collide again.
    if (!isNotWritable(error)) return this.pause(Math.min(attempt, 3) * (20 + Math.random() * 60));
    // Before the second retry, one check at a time is made for all operations, so that few connections are opened to a
    // server that refuses them.
    if (attempt > 1) await (this.check ??= this.untilWritable(deadline).finally(() => (this.check = null)));
  }

  private async untilWritable(deadline: Deadline): Promise<void> {
    do await sleep(150);
    while (!deadline.hasPassed && !(await this.isWritable(deadline)));
  }
}

function* singleStatement(query: Query): Transaction<Result> {
  return yield query;
}

/** Returns whether to run an operation again after a failure. The deadline ends the runs in any case. */
function mayRunAgain(error: unknown, attempt: number, options: TransactionOptions, isJoined: boolean): boolean {
  const { failsFast, retryUnknownCommit } = options;
  const isFew = attempt < (meaningOf(error) === 'conflict' ? MAX_RUNS_IN_CONFLICT : MAX_RUNS);
  // A deadlock may have rolled back the application's whole transaction, which only the application can run again.
  if (isJoined) return isFew && (meaningOf(error) === 'duplicate' || failureCode(error) === 'CONFLICT');
  if (isNotWritable(error)) return !failsFast || attempt === 1;
  if (!isConnectionLost(error)) return isFew && failureKind(error) === 'rolled_back';
  return (retryUnknownCommit || !(error instanceof CommitError)) && (!failsFast || isFew);
}
