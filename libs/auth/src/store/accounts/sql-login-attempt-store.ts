import { Injectable } from '@nestjs/common';
import type { Admission, AttemptKeys, AttemptStreaks, FailureStreak, StreakLimits } from '../../domain/failure-streak';
import { admissionOf, failedStreaks, NO_STREAK, slotsOfAttempt } from '../../domain/failure-streak';
import { LoginAttemptStore, type FailedAttempt } from '../../domain/ports/accounts';
import { Database } from '../database/database';
import { failureKeysInLockOrder, incomingValue, onDuplicate } from '../database/dialect';
import { columns } from '../database/statement';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, RolledBack, rowsOf, type Row, type Step, type Transaction } from '../database/transaction';
import { EventWriter } from '../events/event-writer';

/** Both rows are locked by primary key before they are read, that of the network first. */
const LOCKS_FIRST = { anyIsolation: true };

/** The failure streaks in the application's database: a row for the network and a row for the name. */
@Injectable()
export class SqlLoginAttemptStore extends LoginAttemptStore {
  private readonly lockRows;
  private readonly readRows;
  private readonly writeRows;
  private readonly releaseRows;
  private readonly deleteRows;
  private readonly deleteName;

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
       FROM {failure} WHERE {failure.key} IN (:network, :name)`,
    );
    this.writeRows = statements.statement(
      upsert(STREAK_COLUMNS.map((column) => `{failure.${column}} = ${incoming(column)}`)),
    );
    const both = failureKeysInLockOrder(dialect, ':network', ':name');
    this.releaseRows = statements.statement(
      `UPDATE {failure} SET {failure.pending} = {failure.pending} - 1
       WHERE {failure.pending} > 0 AND {failure.key} IN (${both})`,
    );
    this.deleteRows = statements.statement(`DELETE FROM {failure} WHERE {failure.key} IN (${both})`);
    this.deleteName = statements.statement('DELETE FROM {failure} WHERE {failure.nameKey} = :name');
  }

  admit(keys: AttemptKeys, now: number, limits: StreakLimits): Promise<Admission> {
    // Repeated after a lost COMMIT it takes the slots twice. They are freed after their time, which is better than 503.
    return this.database.transaction(() => this.admitLocked(keys, now, limits), {
      ...LOCKS_FIRST,
      retryUnknownCommit: true,
    });
  }

  fail(attempt: FailedAttempt): Promise<number> {
    return this.database.transaction(() => this.failLocked(attempt), LOCKS_FIRST);
  }

  async release(keys: AttemptKeys): Promise<void> {
    await this.database.autocommit(this.releaseRows.with({ ...keys }));
  }

  async succeed(keys: AttemptKeys): Promise<void> {
    await this.database.autocommit(this.deleteRows.with({ ...keys }));
  }

  async reset(nameKey: string): Promise<void> {
    await this.database.autocommit(this.deleteName.with({ name: nameKey }));
  }

  private *admitLocked(keys: AttemptKeys, now: number, limits: StreakLimits): Transaction<Admission> {
    const streaks = yield* this.lock(keys, now, slotsOfAttempt(now, limits));
    const admission = admissionOf(streaks, now, limits);
    return admission.kind === 'admitted' ? admission : new RolledBack(admission);
  }

  private *failLocked({ now, limits, isKnown, event, ...keys }: FailedAttempt): Transaction<number> {
    const streaks = failedStreaks(yield* this.lock(keys, now), now, limits, isKnown);
    yield* affectedBy(this.writeRows.with(rowValues(keys, streaks)));
    const { failures } = streaks.network;
    yield* this.events.write([event(failures)]);
    return failures;
  }

  /** Creates or locks both rows, adds the slots to them, and reads them. */
  private *lock(keys: AttemptKeys, now: number, slots = NO_SLOTS): Step<AttemptStreaks> {
    yield* affectedBy(this.lockRows.with({ ...rowValues(keys, slots), now }));
    const rows = yield* rowsOf(this.readRows.with({ ...keys }));
    const streakOf = (key: string): FailureStreak => streakFromRow(rows.find((row) => row['id'] === key)!);
    return { network: streakOf(keys.network), name: streakOf(keys.name) };
  }
}

const NO_SLOTS: AttemptStreaks = { network: NO_STREAK, name: NO_STREAK };

const STREAK_COLUMNS = ['failureCount', 'pending', 'pendingUntil', 'delayedUntil', 'expiresAt'] as const;

/** The row of the network, then that of the name: the order in which every transaction locks them. */
const INSERT = `INSERT INTO {failure} ({failure.key}, {failure.nameKey},
  ${STREAK_COLUMNS.map((column) => `{failure.${column}}`).join(', ')})
  VALUES (:network, :name, :networkValues...), (:name, :name, :nameValues...)`;

function rowValues(keys: AttemptKeys, { network, name }: AttemptStreaks): Record<string, unknown> {
  return { ...keys, networkValues: columnValues(network), nameValues: columnValues(name) };
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
