import { FAILURES_FROM_ANYWHERE, NO_RUN, withPlaceTaken, type RunLimits } from '../domain/login-run';
import type { AttemptKeys } from '../domain/ports/login-attempt-store';
import type { AuthTables } from './auth-tables';
import type { Database } from './sql/database';
import type { Statement } from './sql/statement';
import { rowsOf } from './sql/unit';

/** For how long the place of a name is remembered that nothing came of. */
export const REMEMBER_NAME_MS = 86_400_000;

/**
 * Taking the two places of an attempt in one statement (PostgreSQL): that of the network, and if there is one, that of the
 * name. It is the same statement whatever is on record, by the rules of `admissionOf` and `withPlaceTaken`.
 */
export class LoginPlaces {
  private readonly takeBoth: Statement;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
  ) {
    const failures = 'CASE WHEN f.{failure.expiresAt} > :now THEN f.{failure.failureCount} ELSE 0 END';
    const delayedUntil = 'CASE WHEN f.{failure.expiresAt} > :now THEN f.{failure.delayedUntil} ELSE 0 END';
    const pending = 'CASE WHEN f.{failure.pendingUntil} > :now THEN f.{failure.pending} ELSE 0 END';
    const take = (key: string, expiresAt: string, from: string, condition: string): string =>
      `INSERT INTO {failure} AS f ({failure.key}, {failure.nameKey}, {failure.failureCount}, {failure.pending},
         {failure.pendingUntil}, {failure.delayedUntil}, {failure.expiresAt})
       SELECT ${key}, :name, 0, 1, CAST(:pendingUntil AS bigint), 0, CAST(${expiresAt} AS bigint) ${from}
       ON CONFLICT ({failure.key}) DO UPDATE SET {failure.failureCount} = ${failures}, {failure.pending} = ${pending} + 1,
         {failure.pendingUntil} = :pendingUntil, {failure.delayedUntil} = ${delayedUntil},
         {failure.expiresAt} = GREATEST(f.{failure.expiresAt}, ${expiresAt})
       WHERE ${condition} RETURNING {failure.key} AS id`;
    const roomOfNetwork = `${delayedUntil} <= :now
      AND ${pending} < GREATEST(1, CAST(:throttleFrom AS integer) - (${failures}))`;
    const roomOfName = `${pending} < ${FAILURES_FROM_ANYWHERE} - (${failures})`;
    this.takeBoth = tables.statement(
      `WITH of_network AS (${take(':network', ':networkExpiresAt', '', roomOfNetwork)}),
         of_name AS (${take(':name', ':nameExpiresAt', 'FROM of_network', roomOfName)})
       SELECT id FROM of_network UNION ALL SELECT id FROM of_name`,
    );
  }

  /** @returns the keys whose place was taken: both, that of the network alone, or none */
  async take(
    { network, name }: AttemptKeys,
    now: number,
    { throttleFrom, windowMs }: RunLimits,
  ): Promise<readonly string[]> {
    if (throttleFrom === false) return [];
    const { pendingUntil, expiresAt: networkExpiresAt } = withPlaceTaken(NO_RUN, now, windowMs);
    const { expiresAt: nameExpiresAt } = withPlaceTaken(NO_RUN, now, REMEMBER_NAME_MS);
    const values = { network, name, now, throttleFrom, pendingUntil, networkExpiresAt, nameExpiresAt };
    const rows = await this.database.atomic(() => rowsOf(this.takeBoth.with(values)), { writesOnce: true });
    return rows.map((row) => String(row['id']));
  }
}
