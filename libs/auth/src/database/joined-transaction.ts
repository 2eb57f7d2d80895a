import { Inject, Injectable } from '@nestjs/common';
import type { DataSource, EntityManager, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { AsyncLocalStorage } from 'node:async_hooks';
import { dialectOf } from './dialect';
import type { Query } from './transaction';
import { AUTH_DATA_SOURCE } from './typeorm';

/**
 * A TypeORM `EntityManager` with an open transaction, such as the manager that the callback of
 * `dataSource.transaction()` receives.
 */
export interface TransactionManager {
  readonly queryRunner?: { readonly isTransactionActive: boolean } | undefined;
}

/** Lets calls of the services take part in transactions of the application. */
export abstract class ApplicationTransactions {
  /**
   * Checks that the transaction of the manager can be joined.
   * @throws Error if the manager has no open transaction, or belongs to another DataSource
   */
  abstract assertOpen(manager: TransactionManager): void;

  /** Runs the call as part of the application's transaction. Rejects if `assertOpen` throws. */
  abstract join<T>(manager: TransactionManager, call: () => Promise<T>): Promise<T>;

  /**
   * Runs a call outside the caller's transaction. On SQLite, which has only one connection, the call runs inside the
   * transaction.
   */
  abstract outsideTransaction<T>(call: () => Promise<T>): Promise<T>;

  /** Calls `report` after the commit of the caller's transaction, or immediately if there is no transaction. */
  abstract whenCommitted(report: () => void): void;
}

/** A transaction of the application in which calls to the library take part. */
export class JoinedTransaction {
  private lastCall: Promise<unknown> = Promise.resolve();
  private commitListeners: { readonly depth: number; readonly listener: () => void }[] = [];
  private endListener = (): void => undefined;
  private hasEnded = false;

  constructor(readonly runner: QueryRunner) {}

  /**
   * Runs calls one after another, because all calls share one connection, and the statements of two calls
   * must not interleave. A call from within the running call, for example by a subscriber of the
   * application, runs as part of the running call.
   */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    if (current.getStore()?.isExclusive) return work();
    const exclusiveCall = this.lastCall.then(() => {
      this.assertOpen();
      return current.run({ transaction: this, isExclusive: true }, work);
    });
    this.lastCall = exclusiveCall.catch(() => undefined);
    return exclusiveCall;
  }

  /**
   * Throws if the transaction has ended, because a late statement would run on its own, or in the next
   * transaction on the same connection.
   * @throws TransactionEndedError
   */
  assertOpen(): void {
    if (this.hasEnded || !this.runner.isTransactionActive) throw new TransactionEndedError();
  }

  /** Marks the transaction as ended. Commit listeners that have not been called are discarded. */
  end(): void {
    this.hasEnded = true;
    this.commitListeners = [];
    const listener = this.endListener;
    this.endListener = (): void => undefined;
    listener();
  }

  /**
   * Sets the listener that is called when the transaction ends, and replaces an earlier listener. If the
   * transaction has ended, the listener is called immediately.
   */
  whenEnded(listener: () => void): void {
    if (this.hasEnded) listener();
    else this.endListener = listener;
  }

  whenCommitted(listener: () => void): void {
    if (!this.hasEnded) this.commitListeners.push({ depth: this.depth, listener });
  }

  /**
   * Called when the transaction is committed or a savepoint is released. The commit listeners of a released
   * savepoint are moved to the enclosing transaction.
   */
  committed(): void {
    const { commitListeners, depth } = this;
    if (this.runner.isTransactionActive) {
      this.commitListeners = commitListeners.map((waiting) => ({ ...waiting, depth: Math.min(waiting.depth, depth) }));
      return;
    }
    this.end();
    for (const { listener } of commitListeners) listener();
  }

  /**
   * Called when the transaction, or a savepoint, is rolled back. Discards the commit listeners of the part
   * that was rolled back.
   */
  rolledBack(): void {
    if (this.runner.isTransactionActive)
      this.commitListeners = this.commitListeners.filter(({ depth }) => depth <= this.depth);
    else this.end();
  }

  /** The nesting depth of TypeORM's transactions. TypeORM runs nested transactions as savepoints. */
  private get depth(): number {
    return (this.runner as unknown as { transactionDepth: number }).transactionDepth;
  }
}

/** Thrown when a call takes part in a transaction of the application that has ended. */
export class TransactionEndedError extends Error {
  override readonly name = 'TransactionEndedError';

  constructor() {
    super('The transaction of the application has ended. Await every call to the library inside the transaction.');
  }
}

/** The transaction that the caller takes part in, and whether `runExclusive` is running the caller. */
const current = new AsyncLocalStorage<{ transaction: JoinedTransaction; isExclusive: boolean } | undefined>();

export function currentTransaction(): JoinedTransaction | undefined {
  return current.getStore()?.transaction;
}

export function runIn<T>(transaction: JoinedTransaction | undefined, call: () => Promise<T>): Promise<T> {
  // On Node.js 20, an async context slows down every promise in the process. Therefore, no async context
  // is created if there is no transaction to enter or to leave.
  if (transaction === undefined && current.getStore() === undefined) return call();
  const isExclusive =
    transaction !== undefined && currentTransaction() === transaction && current.getStore()!.isExclusive;
  return current.run(transaction && { transaction, isExclusive }, call);
}

/**
 * Returns a statement for the savepoint of a call within the application's transaction, so that the call
 * can be rolled back alone.
 */
export function savepoint(verb: 'SAVEPOINT' | 'RELEASE SAVEPOINT' | 'ROLLBACK TO SAVEPOINT'): Query {
  return { sql: `${verb} session_auth`, params: [] };
}

/**
 * Runs calls inside or outside the transactions that the application has opened on its DataSource. TypeORM
 * reports the commits and rollbacks of these transactions to this subscriber.
 */
@Injectable()
export class SqlApplicationTransactions extends ApplicationTransactions implements EntitySubscriberInterface {
  private readonly joined = new WeakMap<QueryRunner, JoinedTransaction>();

  constructor(@Inject(AUTH_DATA_SOURCE) private readonly dataSource: DataSource) {
    super();
  }

  assertOpen(manager: TransactionManager): void {
    this.openRunner(manager);
  }

  async join<T>(manager: TransactionManager, call: () => Promise<T>): Promise<T> {
    const runner = this.openRunner(manager);
    // Checked at each call, because a DataSource that was closed and opened again has lost its subscribers.
    if (!this.dataSource.subscribers.includes(this)) this.dataSource.subscribers.push(this);
    let transaction = this.joined.get(runner);
    if (!transaction) this.joined.set(runner, (transaction = new JoinedTransaction(runner)));
    return runIn(transaction, call);
  }

  outsideTransaction<T>(call: () => Promise<T>): Promise<T> {
    return dialectOf(this.dataSource) === 'sqlite' ? call() : runIn(undefined, call);
  }

  whenCommitted(listener: () => void): void {
    const transaction = currentTransaction();
    if (transaction) transaction.whenCommitted(listener);
    else listener();
  }

  private openRunner(manager: TransactionManager): QueryRunner {
    const { queryRunner, connection } = manager as EntityManager;
    if (!queryRunner?.isTransactionActive) {
      throw new Error(
        'The manager has no open transaction. Pass the manager that the callback of dataSource.transaction() receives.',
      );
    }
    if (connection !== this.dataSource) {
      throw new Error("The transaction belongs to another DataSource. Pass a manager of the library's DataSource.");
    }
    return queryRunner;
  }

  /**
   * Discards the state of the previous transaction of the same query runner, unless a savepoint starts. Also
   * marks the previous transaction as ended, in case TypeORM did not report its end.
   */
  beforeTransactionStart({ queryRunner }: { readonly queryRunner: QueryRunner }): void {
    if ((queryRunner as unknown as { transactionDepth: number }).transactionDepth === 0) {
      this.joined.get(queryRunner)?.end();
      this.joined.delete(queryRunner);
    }
  }

  afterTransactionCommit({ queryRunner }: { readonly queryRunner: QueryRunner }): void {
    this.joined.get(queryRunner)?.committed();
  }

  afterTransactionRollback({ queryRunner }: { readonly queryRunner: QueryRunner }): void {
    this.joined.get(queryRunner)?.rolledBack();
  }
}
