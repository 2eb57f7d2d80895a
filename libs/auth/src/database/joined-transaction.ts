import { Inject, Injectable } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { DatabaseFailure } from './failure';
import type { Query } from './transaction';
import { AUTH_DATA_SOURCE, transactionDepth } from './typeorm';

/** A TypeORM `EntityManager` with an open transaction, such as the one that `dataSource.transaction()` passes on. */
export interface TransactionManager {
  readonly queryRunner?: { readonly isTransactionActive: boolean } | undefined;
}

interface Listener {
  depth: number;
  readonly committed: () => void;
  readonly rolledBack: () => void | Promise<void>;
}

/** Recognizes calls to the library by hooks and subscribers that another call runs. */
const applicationCode = new AsyncLocalStorage<JoinedTransaction>();

/** A transaction of the application in which calls to the library take part. */
export class JoinedTransaction {
  private lastCall: Promise<unknown> = Promise.resolve();
  private listeners: Listener[] = [];
  private hasEnded = false;

  constructor(readonly runner: QueryRunner) {}

  /**
   * Runs calls one after another, because the statements of two calls must not interleave on their connection. A call by
   * a hook or subscriber runs immediately, because the call that runs the hook waits for it.
   */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    if (applicationCode.getStore() === this) return work();
    const call = this.lastCall.then(() => {
      this.assertOpen();
      return work();
    });
    this.lastCall = call.catch(() => undefined);
    return call;
  }

  runApplicationCode<T>(work: () => Promise<T>): Promise<T> {
    return this.runExclusive(() => applicationCode.run(this, work));
  }

  get isOpen(): boolean {
    return !this.hasEnded && this.runner.isTransactionActive;
  }

  /** Throws if a statement would run on its own, or in the next transaction on the same connection. */
  assertOpen(): void {
    if (!this.isOpen) throw transactionEnded();
  }

  async end(): Promise<void> {
    this.hasEnded = true;
    for (const { rolledBack } of this.listeners.splice(0)) await rolledBack();
  }

  /** Calls one of the functions when the transaction is committed, or its current part is rolled back. */
  whenDecided(committed: () => void, rolledBack: () => void | Promise<void> = () => undefined): void {
    if (!this.hasEnded) this.listeners.push({ depth: transactionDepth(this.runner), committed, rolledBack });
  }

  /** Called for released savepoints too, whose listeners then belong to what encloses them. */
  committed(): void {
    const depth = transactionDepth(this.runner);
    for (const listener of this.listeners) listener.depth = Math.min(listener.depth, depth);
    if (this.runner.isTransactionActive) return;
    this.hasEnded = true;
    for (const { committed } of this.listeners.splice(0)) committed();
  }

  /** Called when the transaction, or a savepoint, is rolled back. */
  async rolledBack(): Promise<void> {
    if (!this.runner.isTransactionActive) return this.end();
    const depth = transactionDepth(this.runner);
    const undone = this.listeners.filter((listener) => listener.depth > depth);
    this.listeners = this.listeners.filter((listener) => listener.depth <= depth);
    for (const { rolledBack } of undone) await rolledBack();
  }
}

/** Runs work after the commit of the application's transaction, or immediately if there is none. */
export function afterCommit(tx: JoinedTransaction | null, work: () => void): void {
  if (tx) tx.whenDecided(work);
  else work();
}

export function transactionEnded(): Error {
  return new DatabaseFailure(
    'TRANSACTION_ENDED',
    'The transaction of the application has ended. Await every call to the library inside the transaction.',
  );
}

// A call within the application's transaction runs in a savepoint.
export const BEGIN_NESTED: Query = { sql: 'SAVEPOINT session_auth' };
export const COMMIT_NESTED: Query = { sql: 'RELEASE SAVEPOINT session_auth' };
export const ROLLBACK_NESTED: Query = { sql: 'ROLLBACK TO SAVEPOINT session_auth' };

/** Joins transactions of the application. TypeORM reports their ends to this subscriber. */
@Injectable()
export class ApplicationTransactions implements EntitySubscriberInterface {
  private readonly joined = new WeakMap<QueryRunner, JoinedTransaction>();

  constructor(@Inject(AUTH_DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** @throws Error if the manager has no open transaction, or belongs to another DataSource */
  join(manager: TransactionManager): JoinedTransaction {
    const { queryRunner, connection } = manager as EntityManager;
    if (!queryRunner?.isTransactionActive) {
      throw new Error(
        'The manager has no open transaction. Pass the manager that the callback of dataSource.transaction() receives.',
      );
    }
    if (connection !== this.dataSource) {
      throw new Error("The transaction belongs to another DataSource. Pass a manager of the library's DataSource.");
    }
    // Checked each time, because a DataSource that was closed and opened again has lost its subscribers.
    if (!this.dataSource.subscribers.includes(this)) this.dataSource.subscribers.push(this);
    const transaction = this.joined.get(queryRunner) ?? new JoinedTransaction(queryRunner);
    this.joined.set(queryRunner, transaction);
    return transaction;
  }

  /** Called for savepoints too. TypeORM may not have reported the end of an earlier transaction of the same runner. */
  beforeTransactionStart({ queryRunner }: { readonly queryRunner: QueryRunner }): void {
    if (transactionDepth(queryRunner) > 0) return;
    void this.joined.get(queryRunner)?.end();
    this.joined.delete(queryRunner);
  }

  afterTransactionCommit({ queryRunner }: { readonly queryRunner: QueryRunner }): void {
    this.joined.get(queryRunner)?.committed();
  }

  /** TypeORM waits for the promise before the rollback returns. */
  afterTransactionRollback({ queryRunner }: { readonly queryRunner: QueryRunner }): Promise<void> | undefined {
    return this.joined.get(queryRunner)?.rolledBack();
  }
}
