import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryRunner } from 'typeorm';
import type { Query } from './transaction';

/** A transaction of the application that calls of the library take part in. */
export class JoinedTransaction {
  private last: Promise<unknown> = Promise.resolve();
  private waiting: { readonly depth: number; readonly listener: () => void }[] = [];
  private endListener = (): void => undefined;
  private hasEnded = false;

  constructor(readonly runner: QueryRunner) {}

  /**
   * One after another: there is one connection, and a transaction must not come between the statements of another. A call
   * that is made by one that has its turn (by a subscriber of the application, say) is a part of that.
   */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    if (current.getStore()?.hasTurn) return work();
    const turn = this.last.then(() => {
      this.assertOpen();
      return current.run({ transaction: this, hasTurn: true }, work);
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** What outlives the transaction must not be done on its own, or in the next one on the same connection. */
  assertOpen(): void {
    if (this.hasEnded || !this.runner.isTransactionActive) throw new TransactionEndedError();
  }

  /** The database gave the transaction up: nothing more is part of it. */
  end(): void {
    this.hasEnded = true;
    this.waiting = [];
    const listener = this.endListener;
    this.endListener = (): void => undefined;
    listener();
  }

  /** Has the listener called when the transaction has ended, whichever way, instead of an earlier listener. */
  whenEnded(listener: () => void): void {
    if (this.hasEnded) listener();
    else this.endListener = listener;
  }

  whenCommitted(listener: () => void): void {
    if (!this.hasEnded) this.waiting.push({ depth: this.depth, listener });
  }

  /** The transaction was committed; or a savepoint of it, and what waits does so for what is around that. */
  committed(): void {
    const { waiting, depth } = this;
    if (this.runner.isTransactionActive) {
      this.waiting = waiting.map((one) => ({ ...one, depth: Math.min(one.depth, depth) }));
      return;
    }
    this.end();
    for (const { listener } of waiting) listener();
  }

  /** The transaction was rolled back; or all since a savepoint of it. */
  rolledBack(): void {
    if (this.runner.isTransactionActive) this.waiting = this.waiting.filter(({ depth }) => depth <= this.depth);
    else this.end();
  }

  /** How many transactions are open, one in another: TypeORM makes savepoints of the inner ones. */
  private get depth(): number {
    return (this.runner as unknown as { transactionDepth: number }).transactionDepth;
  }
}

/** The transaction of the application has ended: no call can take part in it any more. */
export class TransactionEndedError extends Error {
  override readonly name = 'TransactionEndedError';
}

/** The transaction that the caller takes part in, and whether it is the caller's turn. */
const current = new AsyncLocalStorage<{ transaction: JoinedTransaction; hasTurn: boolean } | undefined>();

export function currentTransaction(): JoinedTransaction | undefined {
  return current.getStore()?.transaction;
}

export function runIn<T>(transaction: JoinedTransaction | undefined, call: () => Promise<T>): Promise<T> {
  // On Node 20 an async context slows down every promise of the process, so none is made where there is nothing to leave.
  if (transaction === undefined && current.getStore() === undefined) return call();
  const hasTurn = transaction !== undefined && currentTransaction() === transaction && current.getStore()!.hasTurn;
  return current.run(transaction && { transaction, hasTurn }, call);
}

/** A transaction inside the application's is a savepoint of it, which can be undone alone. */
export function savepoint(verb: 'SAVEPOINT' | 'RELEASE SAVEPOINT' | 'ROLLBACK TO SAVEPOINT'): Query {
  return { sql: `${verb} session_auth`, params: [] };
}
