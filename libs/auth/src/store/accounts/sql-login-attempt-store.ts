import { Injectable } from '@nestjs/common';
import type {
  Admission,
  AttemptKeys,
  AttemptStreaks,
  CountedFailure,
  FailureStreak,
} from '../../domain/failure-streak';
import { admissionOf, failedStreaks, NO_STREAK, slotsOfAttempt, UNTIL_RESET } from '../../domain/failure-streak';
import { LoginAttemptStore, type AttemptToAdmit, type FailedAttempt, type UserId } from '../../domain/ports/accounts';
import { Database } from '../database/database';
import { failureKeysInLockOrder, incomingValue, onDuplicate, readLocked, type Dialect } from '../database/dialect';
import { columns } from '../database/statement';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, RolledBack, rowsOf, type Row, type Step, type Transaction } from '../database/transaction';
import { EventWriter } from '../events/event-writer';

/**
 * Transactions lock both rows by primary key before reading: first the row of the network, then the row of
 * the account.
 */
const LOCKS_BEFORE_READING = { anyIsolation: true };

/**
 * Stores failure streaks in the application's database. For each account and method, there is one row for
 * each network, and one row for all networks.
 */
@Injectable()
export class SqlLoginAttemptStore extends LoginAttemptStore {
  private readonly lockRows;
  private readonly readRows;
  private readonly writeRows;
  private readonly releaseRows;
  private readonly deleteAccount;
  private readonly deleteMethod;
  private readonly readFamiliar;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly events: EventWriter,
  ) {
    super();
    const { dialect } = statements;
    const stored = (column: string): string => `{failure}.{failure.${column}}`;
    const incoming = (column: string): string => incomingValue(dialect, `{failure.${column}}`);
    const upsert = (assignments: readonly string[]): string =>
      `${INSERT} ${onDuplicate(dialect, '{failure.key}', assignments.join(', '))}`;

    // An expired value counts as zero. The incoming slots are added to the current value.
    const current = (column: string, until: string): string =>
      `CASE WHEN ${stored(until)} > :now THEN ${stored(column)} ELSE 0 END`;
    const later = (column: string): string =>
      `CASE WHEN ${stored(column)} > ${incoming(column)} THEN ${stored(column)} ELSE ${incoming(column)} END`;
    this.lockRows = statements.prepared(
      upsert([
        `{failure.failureCount} = ${current('failureCount', 'expiresAt')}`,
        `{failure.delayedUntil} = ${current('delayedUntil', 'expiresAt')}`,
        `{failure.pending} = ${current('pending', 'pendingUntil')} + ${incoming('pending')}`,
        // These assignments come last, because MySQL evaluates assignments from left to right, and the
        // assignments above read the old values.
        `{failure.pendingUntil} = ${later('pendingUntil')}`,
        `{failure.expiresAt} = ${later('expiresAt')}`,
      ]),
    );
    this.readRows = statements.prepared(
      `SELECT {failure.key} AS id, ${columns('failure', STREAK_COLUMNS.join(' '))}
       FROM {failure} WHERE {failure.key} IN (:network, :account) ${readLocked(dialect)}`,
    );
    this.writeRows = statements.statement(
      upsert(STREAK_COLUMNS.map((column) => `{failure.${column}} = ${incoming(column)}`)),
    );
    this.releaseRows = statements.statement(
      `UPDATE {failure} SET {failure.pending} = {failure.pending} - 1
       WHERE {failure.pending} > 0 AND {failure.key} IN (${failureKeysInLockOrder(dialect)})`,
    );
    this.deleteAccount = statements.statement('DELETE FROM {failure} WHERE {failure.accountKey} = :account');
    this.deleteMethod = statements.statement(
      'DELETE FROM {failure} WHERE {failure.accountKey} = :account AND {failure.method} = :method',
    );
    this.readFamiliar = statements.statement(
      `SELECT 1 AS familiar FROM {session}
       WHERE {session.userId} = :userId AND {session.loginNetwork} = :network
       UNION ALL
       SELECT 1 FROM {session}
       WHERE {session.userId} = :userId AND {session.state} = 'active' AND {session.lastNetwork} = :network LIMIT 1`,
    );
  }

  admit(attempt: AttemptToAdmit): Promise<Admission> {
    // If the transaction is repeated because the response to COMMIT was lost, the slots may be taken twice.
    // The surplus slots expire, which is better than failing with 503.
    return this.database.transaction(() => this.admitLocked(attempt), {
      ...LOCKS_BEFORE_READING,
      retryUnknownCommit: true,
    });
  }

  async isFamiliar(userId: UserId | null, network: string): Promise<boolean> {
    // The statement is also run for an unknown name, so that the duration does not reveal whether the name
    // exists.
    const query = this.readFamiliar.with({ userId: String(userId ?? ''), network });
    return (await this.database.autocommit(query)).rows.length > 0;
  }

  fail(attempt: FailedAttempt): Promise<CountedFailure> {
    return this.database.transaction(() => this.failLocked(attempt), LOCKS_BEFORE_READING);
  }

  async release(keys: AttemptKeys): Promise<void> {
    await this.database.autocommit(this.releaseRows.with({ ...keys }));
  }

  async reset(account: string, method?: string): Promise<void> {
    const removal =
      method === undefined ? this.deleteAccount.with({ account }) : this.deleteMethod.with({ account, method });
    await this.database.autocommit(removal);
  }

  private *admitLocked({ now, limits, enforceAccountLimits, ...keys }: AttemptToAdmit): Transaction<Admission> {
    const streaks = yield* this.lock(keys, now, slotsOfAttempt(now));
    const admission = admissionOf(streaks, now, limits, enforceAccountLimits);
    return admission.kind === 'admitted' ? admission : new RolledBack(admission);
  }

  private *failLocked({ now, limits, isKnown, events, ...keys }: FailedAttempt): Transaction<CountedFailure> {
    const { streaks, counted } = failedStreaks(yield* this.lock(keys, now), now, limits, isKnown);
    yield* affectedBy(this.writeRows.with(rowValues(keys, streaks)));
    yield* this.events.write(events(counted));
    return counted;
  }

  /** Creates or locks both rows, adds the slots, and reads the rows. */
  private *lock(keys: AttemptKeys, now: number, slots = NO_SLOTS): Step<AttemptStreaks> {
    yield* affectedBy(this.lockRows.with({ ...rowValues(keys, slots), now }));
    const rows = yield* rowsOf(this.readRows.with({ ...keys }));
    const streakOf = (key: string): FailureStreak => streakFromRow(rows.find((row) => row['id'] === key)!);
    return { network: streakOf(keys.network), account: streakOf(keys.account) };
  }
}

const NO_SLOTS: AttemptStreaks = { network: NO_STREAK, account: NO_STREAK };

const STREAK_COLUMNS = ['failureCount', 'pending', 'pendingUntil', 'delayedUntil', 'expiresAt'] as const;

/** Inserts the row of the network, then the row of all networks. The upsert locks them in this order. */
const INSERT = `INSERT INTO {failure} ({failure.key}, {failure.accountKey}, {failure.method},
  ${STREAK_COLUMNS.map((column) => `{failure.${column}}`).join(', ')})
  VALUES (:network, :owner, :method, :networkValues...), (:account, :owner, :method, :accountValues...)`;

/**
 * Returns a statement that ends the failure streaks after a successful attempt. Blocks that only a reset
 * ends remain.
 */
export function endStreaks(dialect: Dialect): string {
  return `DELETE FROM {failure} WHERE {failure.delayedUntil} < ${UNTIL_RESET}
    AND {failure.key} IN (${failureKeysInLockOrder(dialect)})`;
}

function rowValues(keys: AttemptKeys, { network, account }: AttemptStreaks): Record<string, unknown> {
  return { ...keys, networkValues: columnValues(network), accountValues: columnValues(account) };
}

/** Returns the values in the order of `STREAK_COLUMNS`. */
function columnValues({ failures, pending, pendingUntil, delayedUntil, expiresAt }: FailureStreak): unknown[] {
  return [failures, pending, pendingUntil, delayedUntil, expiresAt];
}

function streakFromRow(row: Row): FailureStreak {
  return {
    failures: Number(row['failure_count']),
    pending: Number(row['pending']),
    pendingUntil: Number(row['pending_until']),
    delayedUntil: Number(row['delayed_until']),
    expiresAt: Number(row['expires_at']),
  };
}
