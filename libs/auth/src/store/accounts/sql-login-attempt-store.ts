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

/** Both rows are locked by primary key before they are read, that of the network first. */
const LOCKS_FIRST = { anyIsolation: true };

/** The failure streaks in the application's database: a row for the account from the network, and one from anywhere. */
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

    // What has expired counts as zero, and the incoming slots are added.
    const current = (column: string, until: string): string =>
      `CASE WHEN ${stored(until)} > :now THEN ${stored(column)} ELSE 0 END`;
    const later = (column: string): string =>
      `CASE WHEN ${stored(column)} > ${incoming(column)} THEN ${stored(column)} ELSE ${incoming(column)} END`;
    this.lockRows = statements.prepared(
      upsert([
        `{failure.failureCount} = ${current('failureCount', 'expiresAt')}`,
        `{failure.delayedUntil} = ${current('delayedUntil', 'expiresAt')}`,
        `{failure.pending} = ${current('pending', 'pendingUntil')} + ${incoming('pending')}`,
        // Last, because MySQL assigns from left to right, and those above read the old values.
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
    // Repeated after a lost COMMIT it takes the slots twice. They are freed after their time, which is better than 503.
    return this.database.transaction(() => this.admitLocked(attempt), { ...LOCKS_FIRST, retryUnknownCommit: true });
  }

  async isFamiliar(userId: UserId | null, network: string): Promise<boolean> {
    // Asked for an unknown name as well: the work must not reveal whether the name exists.
    const query = this.readFamiliar.with({ userId: String(userId ?? ''), network });
    return (await this.database.autocommit(query)).rows.length > 0;
  }

  fail(attempt: FailedAttempt): Promise<CountedFailure> {
    return this.database.transaction(() => this.failLocked(attempt), LOCKS_FIRST);
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

  /** Creates or locks both rows, adds the slots to them, and reads them. */
  private *lock(keys: AttemptKeys, now: number, slots = NO_SLOTS): Step<AttemptStreaks> {
    yield* affectedBy(this.lockRows.with({ ...rowValues(keys, slots), now }));
    const rows = yield* rowsOf(this.readRows.with({ ...keys }));
    const streakOf = (key: string): FailureStreak => streakFromRow(rows.find((row) => row['id'] === key)!);
    return { network: streakOf(keys.network), account: streakOf(keys.account) };
  }
}

const NO_SLOTS: AttemptStreaks = { network: NO_STREAK, account: NO_STREAK };

const STREAK_COLUMNS = ['failureCount', 'pending', 'pendingUntil', 'delayedUntil', 'expiresAt'] as const;

/** The row of the network, then that from anywhere: the order in which every transaction locks them. */
const INSERT = `INSERT INTO {failure} ({failure.key}, {failure.accountKey}, {failure.method},
  ${STREAK_COLUMNS.map((column) => `{failure.${column}}`).join(', ')})
  VALUES (:network, :owner, :method, :networkValues...), (:account, :owner, :method, :accountValues...)`;

/** Ends the streaks of an attempt whose password was right, but no block that only a reset ends. */
export function endStreaks(dialect: Dialect): string {
  return `DELETE FROM {failure} WHERE {failure.delayedUntil} < ${UNTIL_RESET}
    AND {failure.key} IN (${failureKeysInLockOrder(dialect)})`;
}

function rowValues(keys: AttemptKeys, { network, account }: AttemptStreaks): Record<string, unknown> {
  return { ...keys, networkValues: columnValues(network), accountValues: columnValues(account) };
}

/** In the order of `STREAK_COLUMNS`. */
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
