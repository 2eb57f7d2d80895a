import { Injectable } from '@nestjs/common';
import type { FailureKind } from '../base/telemetry';
import { Database } from '../database/database';
import { DatabaseUnavailableError } from '../database/failure';
import { assertWritable, ROLE_COLUMNS } from '../database/server-checks';
import { StatementFactory } from '../database/statements';
import { SessionSql } from '../sessions/session';
import { PruningService } from './pruning.service';

/** Reports whether the database is ready for the library. `docs/operations.md` describes the reasons. */
export interface AuthHealthReport {
  readonly status: 'up' | 'down';
  /** `down` if a table cannot be read within 2 seconds, or if the server does not accept writes. */
  readonly database: 'up' | 'down';
  /** Why the database is down, or null. The log contains the error. */
  readonly reason: FailureKind | null;
  /** When pruning last succeeded in this process, in ISO 8601, or null. */
  readonly lastPrunedAt: string | null;
  /** When pruning last failed in this process, in ISO 8601, or null. */
  readonly lastPruneFailedAt: string | null;
}

/** Checks the database for health endpoints. Does not check a custom `UserStore`. */
@Injectable()
export class AuthHealth {
  private readonly probe;

  /** @internal */
  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly pruning: PruningService,
  ) {
    // A primary key in each table of the library except `AuthUser`.
    const keys = ['event.id', 'failure.key', 'reset.digest', 'ticket.digest', 'lock.userId', 'apiKey.id'];
    const lookups = keys.map((key) => `(SELECT COUNT(*) FROM {${key.split('.')[0]}} WHERE {${key}} = '0')`);
    // No session has this id, so no user is read. The statement fails if the users table is missing.
    lookups.push(`(SELECT COUNT(*) FROM {session} s WHERE s.{session.id} = '0' AND ${sql.account} <> '')`);
    this.probe = statements.statement(`SELECT ${lookups.join(' + ')} AS found, ${ROLE_COLUMNS[database.dialect]}`);
  }

  /** Returns a report within 2 seconds. Never rejects. */
  async check(): Promise<AuthHealthReport> {
    const options = { withinMs: 2_000, failsFast: true, checkServer: assertWritable };
    const reason = await this.database.run(null, this.probe.with({}), options).then(
      () => null,
      (error: unknown) => (error instanceof DatabaseUnavailableError ? error.kind : 'other'),
    );
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

  /** Returns the report of `check` as an indicator result of `@nestjs/terminus`, under the given name. */
  async isHealthy<const Key extends string = 'auth'>(key: Key = 'auth' as Key): Promise<Record<Key, AuthHealthReport>> {
    return { [key]: await this.check() } as Record<Key, AuthHealthReport>;
  }
}
