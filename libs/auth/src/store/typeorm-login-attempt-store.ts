import {
  admissionOf,
  currentRun,
  failedFromAnywhere,
  failedFromNetwork,
  NO_RUN,
  withPlaceTaken,
  type Admission,
  type LoginRun,
  type RunLimits,
} from '../domain/login-run';
import { LoginAttemptStore, type AttemptKeys, type FailedAttempt } from '../domain/ports/login-attempt-store';
import type { AuthTables } from './auth-tables';
import type { EventWriter } from './event-writer';
import { LoginPlaces, REMEMBER_NAME_MS } from './login-places';
import type { Database } from './sql/database';
import { failuresInOrder, onDuplicate } from './sql/dialect';
import { affectedBy, rowsOf, type Row, type Unit } from './sql/unit';

/** The runs of failed logins on the host's DataSource. */
export class TypeOrmLoginAttemptStore extends LoginAttemptStore {
  private readonly lockRows;
  private readonly readRows;
  private readonly writeRow;
  private readonly releaseRows;
  private readonly releaseOne;
  private readonly deleteRows;
  private readonly deleteName;
  private readonly places: LoginPlaces | null;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly events: EventWriter,
  ) {
    super();
    // Both rows are there and locked afterwards: first that of the network, then that of the name.
    this.lockRows = tables.statement(
      `INSERT INTO {failure} ({failure.key}, {failure.nameKey}, {failure.failureCount}, {failure.pending},
         {failure.pendingUntil}, {failure.delayedUntil}, {failure.expiresAt})
       VALUES (:network, :name, 0, 0, 0, 0, 0), (:name, :name, 0, 0, 0, 0, 0)
       ${onDuplicate(tables.dialect, '{failure.key}', '{failure.nameKey} = :name')}`,
    );
    this.readRows = tables.statement(
      `SELECT {failure.key} AS id, {failure.failureCount} AS failures, {failure.pending} AS pending,
         {failure.pendingUntil} AS pending_until, {failure.delayedUntil} AS delayed_until,
         {failure.expiresAt} AS expires_at FROM {failure} WHERE {failure.key} IN (:keys...)`,
    );
    this.writeRow = tables.statement(
      `UPDATE {failure} SET {failure.failureCount} = :failures, {failure.pending} = :pending,
         {failure.pendingUntil} = :pendingUntil, {failure.delayedUntil} = :delayedUntil,
         {failure.expiresAt} = :expiresAt WHERE {failure.key} = :key`,
    );
    const both = failuresInOrder(tables.dialect, ':network', ':name');
    const release = 'UPDATE {failure} SET {failure.pending} = {failure.pending} - 1 WHERE {failure.pending} > 0';
    this.releaseRows = tables.statement(`${release} AND {failure.key} IN (${both})`);
    this.releaseOne = tables.statement(`${release} AND {failure.key} = :key`);
    this.deleteRows = tables.statement(`DELETE FROM {failure} WHERE {failure.key} IN (${both})`);
    this.deleteName = tables.statement('DELETE FROM {failure} WHERE {failure.nameKey} = :name');
    this.places = tables.dialect === 'postgres' ? new LoginPlaces(database, tables) : null;
  }

  async admit(keys: AttemptKeys, now: number, limits: RunLimits): Promise<Admission> {
    const taken = (await this.places?.take(keys, now, limits)) ?? [];
    if (taken.length === 2) return { kind: 'admitted' };
    // Done twice it takes two places, of which one is taken for lost after a while: better than to refuse.
    return this.database.atomic(() => this.admitOne(keys, taken, now, limits), { repeatable: true });
  }

  fail(attempt: FailedAttempt): Promise<number> {
    return this.database.atomic(() => this.failOne(attempt));
  }

  async release(keys: AttemptKeys): Promise<void> {
    await this.database.single(this.releaseRows.with({ ...keys }));
  }

  async succeed(keys: AttemptKeys): Promise<void> {
    await this.database.single(this.deleteRows.with({ ...keys }));
  }

  async reset(nameKey: string): Promise<void> {
    await this.database.single(this.deleteName.with({ name: nameKey }));
  }

  private *admitOne(
    keys: AttemptKeys,
    /** The place that was taken already, where there is none for the other key. */
    taken: readonly string[],
    now: number,
    limits: RunLimits,
  ): Unit<Admission> {
    for (const key of taken) yield* affectedBy(this.releaseOne.with({ key }));
    const { ofNetwork, ofName } = yield* this.lock(keys, now);
    const admission = admissionOf(ofNetwork, ofName, now, limits);
    if (admission.kind !== 'admitted') return admission;
    yield* this.write(keys.network, withPlaceTaken(ofNetwork, now, limits.windowMs));
    yield* this.write(keys.name, withPlaceTaken(ofName, now, REMEMBER_NAME_MS));
    return admission;
  }

  private *failOne({ now, limits, isKnown, event, ...keys }: FailedAttempt): Unit<number> {
    const { ofNetwork, ofName } = yield* this.lock(keys, now);
    const failed = failedFromNetwork(ofNetwork, now, limits);
    yield* this.write(keys.network, failed);
    yield* this.write(keys.name, failedFromAnywhere(ofName, now, isKnown));
    yield* this.events.write([event(failed.failures)]);
    return failed.failures;
  }

  private *lock(keys: AttemptKeys, now: number): Unit<{ ofNetwork: LoginRun; ofName: LoginRun }> {
    const { network, name } = keys;
    yield* affectedBy(this.lockRows.with({ network, name }));
    const rows = yield* rowsOf(this.readRows.with({ keys: [network, name] }));
    const runOf = (key: string): LoginRun => {
      const row = rows.find(({ id }) => id === key);
      return currentRun(row ? runFromRow(row) : NO_RUN, now);
    };
    return { ofNetwork: runOf(network), ofName: runOf(name) };
  }

  private *write(key: string, run: LoginRun): Unit<void> {
    yield* affectedBy(this.writeRow.with({ key, ...run }));
  }
}

function runFromRow(row: Row): LoginRun {
  return {
    failures: Number(row['failures']),
    pending: Number(row['pending']),
    pendingUntil: Number(row['pending_until']),
    delayedUntil: Number(row['delayed_until']),
    expiresAt: Number(row['expires_at']),
  };
}
