import { Inject, Injectable } from '@nestjs/common';
import type { DataSource, EntityManager, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { ApplicationTransactions, type TransactionManager } from '../../domain/ports/platform';
import { AUTH_DATA_SOURCE } from './data-source';
import { dialectOf } from './dialect';
import { currentTransaction, JoinedTransaction, runIn } from './joined-transaction';

/** Transactions of the application on its DataSource. TypeORM reports to its subscribers how they end. */
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
    // Anew each time: a DataSource that was closed and opened again has forgotten its subscribers.
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
      throw new Error('There is no open transaction: give the manager that dataSource.transaction() hands out.');
    }
    if (connection !== this.dataSource) {
      throw new Error("The transaction is of another DataSource than the library's.");
    }
    return queryRunner;
  }

  /** What an earlier transaction on the same connection left, whose end was not reported, is not part of this one. */
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
