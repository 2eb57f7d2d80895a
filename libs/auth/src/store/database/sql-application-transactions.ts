import { Inject, Injectable } from '@nestjs/common';
import type { DataSource, EntityManager, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { ApplicationTransactions, type TransactionManager } from '../../domain/ports/platform';
import { AUTH_DATA_SOURCE } from './data-source';
import { dialectOf } from './dialect';
import { currentTransaction, JoinedTransaction, runIn } from './joined-transaction';

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
