import type { DataSource, EntityManager, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import { HostTransactions, type TransactionManager } from '../domain/ports/host-transactions';
import { dialectOf } from './sql/dialect';
import { currentTransaction, JoinedTransaction, runIn } from './sql/joined-transaction';

/** Transactions of the host's on its DataSource. TypeORM tells its subscribers how they end. */
export class TypeOrmHostTransactions extends HostTransactions implements EntitySubscriberInterface {
  private readonly joined = new WeakMap<QueryRunner, JoinedTransaction>();

  constructor(private readonly dataSource: DataSource) {
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

  apart<T>(call: () => Promise<T>): Promise<T> {
    return dialectOf(this.dataSource) === 'sqlite' ? call() : runIn(undefined, call);
  }

  whenCommitted(tell: () => void): void {
    const transaction = currentTransaction();
    if (transaction) transaction.whenCommitted(tell);
    else tell();
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

  /** What an earlier transaction on the same connection left, whose end nobody told, is not of this one. */
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
