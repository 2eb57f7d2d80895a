import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryRunner } from 'typeorm';
import type { Query } from './unit';

/** A transaction of the host's that calls of the library take part in. */
export class JoinedTransaction {
  private last: Promise<unknown> = Promise.resolve();
  private waiting: { readonly depth: number; readonly tell: () => void }[] = [];

  constructor(readonly runner: QueryRunner) {}

  /** One after another: there is one connection, and a unit must not come between the statements of another. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => undefined);
    return turn;
  }

  whenCommitted(tell: () => void): void {
    this.waiting.push({ depth: this.depth, tell });
  }

  /** The transaction was committed; or a savepoint of it, and what waits does so for what is around that. */
  committed(): void {
    const { waiting, depth } = this;
    this.waiting = this.isOpen ? waiting.map((one) => ({ ...one, depth: Math.min(one.depth, depth) })) : [];
    if (!this.isOpen) for (const { tell } of waiting) tell();
  }

  /** The transaction was rolled back; or all since a savepoint of it. */
  rolledBack(): void {
    this.waiting = this.isOpen ? this.waiting.filter(({ depth }) => depth <= this.depth) : [];
  }

  private get isOpen(): boolean {
    return this.runner.isTransactionActive;
  }

  /** How many transactions are open, one in another: TypeORM makes savepoints of the inner ones. */
  private get depth(): number {
    return (this.runner as unknown as { transactionDepth: number }).transactionDepth;
  }
}

/** The transaction that the caller takes part in. */
const joined = new AsyncLocalStorage<JoinedTransaction | undefined>();

export function currentTransaction(): JoinedTransaction | undefined {
  return joined.getStore();
}

export function runIn<T>(transaction: JoinedTransaction | undefined, call: () => Promise<T>): Promise<T> {
  return joined.run(transaction, call);
}

/** A unit inside the host's transaction is a savepoint of it, which can be undone alone. */
export function savepoint(verb: 'SAVEPOINT' | 'RELEASE SAVEPOINT' | 'ROLLBACK TO SAVEPOINT'): Query {
  return { sql: `${verb} auth_unit`, params: [] };
}
