import { Injectable } from '@nestjs/common';
import { withTimeout } from '../base/clock';
import type { FailureKind } from '../base/telemetry';
import { Database } from '../database/database';
import { DatabaseUnavailableError } from '../database/failure';
import { assertWritable, ROLE_COLUMNS } from '../database/server-checks';
import { StatementFactory } from '../database/statements';
import { SessionSql } from '../sessions/session';
import { PruningService } from './pruning.service';

/** Reports whether the database is ready for the library. Contains no secrets. */
export interface AuthHealthReport {
  readonly status: 'up' | 'down';
  /**
   * `down` if the check fails or gets no response within 2 seconds. The check queries the library's tables and, without a
   * `UserStore`, the users table. It also asks the server (but not SQLite) whether it accepts writes.
   */
  readonly database: 'up' | 'down';
  /**
   * Why the database is down, or null if the database is up. `timeout`: the check got no response in time, or no free
   * connection in the pool. `connection_lost`: the database cannot be reached, or the connection broke. `read_only`: the
   * server is read-only. `in_recovery`: the server is a PostgreSQL standby. `not_ready`: the server is starting, shutting
   * down or offline, or is not a synchronized member of its cluster. `rolled_back` and `other`: the query failed, for
   * example because a table is missing. For all reasons except `timeout`, the log contains the error.
   */
  readonly reason: FailureKind | null;
  /** When pruning last succeeded in this process, in ISO 8601. Null if no pruning has succeeded. */
  readonly lastPrunedAt: string | null;
  /**
   * When pruning last failed in this process, in ISO 8601. Null if no pruning has failed. A failure does not affect
   * `status`, because the next pruning run removes the remaining rows.
   */
  readonly lastPruneFailedAt: string | null;
}

/** How long `check` waits for the database. The timeout of a health probe should be longer. */
const PROBE_TIMEOUT_MS = 2_000;

/** Checks the database for health endpoints. Does not check a custom `UserStore`. */
@Injectable()
export class AuthHealth {
  private readonly probe;
  private probing: Promise<FailureKind | null> | undefined;

  /** @internal */
  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly pruning: PruningService,
  ) {
    // Looks up a primary key in each table of the library except `AuthUser`.
    const keys = ['event.id', 'failure.key', 'reset.digest', 'ticket.digest', 'lock.userId'];
    const lookups = keys.map((key) => `(SELECT COUNT(*) FROM {${key.split('.')[0]}} WHERE {${key}} = '0')`);
    // No session has this id, so no user is read. The statement fails if the users table is missing.
    lookups.push(`(SELECT COUNT(*) FROM {session} s WHERE s.{session.id} = '0' AND ${sql.account} <> '')`);
    this.probe = statements.statement(`SELECT ${lookups.join(' + ')} AS found, ${ROLE_COLUMNS[database.dialect]}`);
  }

  /** Checks the database, and returns a report within 2 seconds. Never rejects. Parallel calls share one query. */
  async check(): Promise<AuthHealthReport> {
    this.probing ??= this.findFailure().finally(() => (this.probing = undefined));
    const reason = await withTimeout(PROBE_TIMEOUT_MS, this.probing, () => 'timeout' as const);
    const database = reason === null ? 'up' : 'down';
    const { succeededAt, failedAt } = this.pruning.lastRuns;
    return {
      status: database,
      database,
      reason,
      lastPrunedAt: succeededAt?.toISOString() ?? null,
      lastPruneFailedAt: failedAt?.toISOString() ?? null,
    };
  }

  /**
   * Returns the report of `check` as an indicator result of `@nestjs/terminus`.
   * @param key the name of the indicator. Default: `auth`
   */
  async isHealthy<const Key extends string = 'auth'>(key: Key = 'auth' as Key): Promise<Record<Key, AuthHealthReport>> {
    return { [key]: await this.check() } as Record<Key, AuthHealthReport>;
  }

  private async findFailure(): Promise<FailureKind | null> {
    try {
      await this.database.run(null, this.probe.with({}), { checkServer: assertWritable, failsFast: true });
      return null;
    } catch (error) {
      return error instanceof DatabaseUnavailableError ? error.kind : 'other';
    }
  }
}
