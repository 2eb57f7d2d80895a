/** What is used of a TypeORM `EntityManager`: the one that `dataSource.transaction()` hands out. */
export interface TransactionManager {
  readonly queryRunner?: { readonly isTransactionActive: boolean } | undefined;
}

/** Transactions of the host's, in which calls of the service can take part. */
export abstract class HostTransactions {
  /** @throws Error for a manager that is in no transaction, or of another DataSource */
  abstract assertOpen(manager: TransactionManager): void;

  /** Runs the call as a part of the host's transaction; rejects where `assertOpen` throws. */
  abstract join<T>(manager: TransactionManager, call: () => Promise<T>): Promise<T>;

  /**
   * Runs a call outside of the transaction that the caller takes part in, so that its rollback does not undo it. On SQLite,
   * where all share one connection, that cannot be.
   */
  abstract apart<T>(call: () => Promise<T>): Promise<T>;

  /**
   * Tells it when the transaction that the caller takes part in is committed, and never when it is rolled back; at once
   * where the caller takes part in none.
   */
  abstract whenCommitted(tell: () => void): void;
}
