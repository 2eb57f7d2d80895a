import type { Prunable } from '../domain/ports/pruning-store';
import type { AuthTables } from './auth-tables';
import { forUpdateOfFree } from './sql/dialect';
import type { Statement } from './sql/statement';
import { affectedBy, rowsOf, type Query, type Unit } from './sql/unit';

/** Of each kind: the table, its key, and which rows are too old. */
const PRUNABLE: Readonly<Record<Prunable, readonly [table: string, key: string, tooOld: string]>> = {
  refreshTokens: ['refresh', 'digest', '{refresh.expiresAt} <= :before'],
  sessions: [
    'session',
    'id',
    `{session.state} IN ('logged_out', 'revoked', 'expired') AND {session.absoluteExpiresAt} <= :before`,
  ],
  events: ['event', 'id', '{event.occurredAt} <= :before'],
  passwordResets: ['reset', 'digest', '{reset.expiresAt} <= :before'],
  loginFailures: ['failure', 'key', '{failure.expiresAt} <= :before'],
};

/** Removing rows of one kind that are too old, a batch at a time. */
export class RowRemover {
  private readonly find: Statement;
  private readonly delete: Statement;
  private readonly count: Statement;

  constructor(tables: AuthTables, kind: Prunable) {
    const [table, key, tooOld] = PRUNABLE[kind];
    const rows = `FROM {${table}} WHERE ${tooOld}`;
    this.find = tables.statement(
      `SELECT {${table}.${key}} AS found ${rows} LIMIT :most ${forUpdateOfFree(tables.dialect)}`,
    );
    this.delete = tables.statement(`DELETE FROM {${table}} WHERE {${table}.${key}} IN (:keys...)`);
    this.count = tables.statement(`SELECT COUNT(*) AS total ${rows}`);
  }

  /** Passes over rows that somebody else has locked. */
  *remove(before: number, most: number): Unit<number> {
    const keys = (yield* rowsOf(this.find.with({ before, most }))).map((row) => row['found']);
    return keys.length === 0 ? 0 : yield* affectedBy(this.delete.with({ keys }));
  }

  counting(before: number): Query {
    return this.count.with({ before });
  }
}
