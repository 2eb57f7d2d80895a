import { Injectable } from '@nestjs/common';
import type { FailureKind } from '../../domain/metrics';
import { StoreProbe } from '../../domain/ports/maintenance';
import { Database } from './database';
import { DatabaseUnavailableError, NotWritableError } from './failure';
import { ROLE_COLUMNS, whyNotWritable } from './server-role';
import { StatementFactory } from './statement-factory';
import type { Result } from './transaction';

/**
 * Probes the database with one statement. The statement looks up a primary key in each table of the library except
 * `AuthUser`, refers to the users table unless a `UserStore` provides the users, and reads `ROLE_COLUMNS`.
 */
@Injectable()
export class SqlStoreProbe extends StoreProbe {
  private readonly probe;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
  ) {
    super();
    const keys = ['event.id', 'failure.key', 'reset.digest', 'ticket.digest', 'lock.userId'];
    const lookups = keys.map((key) => `(SELECT COUNT(*) FROM {${key.split('.')[0]}} WHERE {${key}} = '0')`);
    // No session has this id, so no user is read. The statement fails if it refers to a users table that is missing.
    lookups.push(`(SELECT COUNT(*) FROM {session} s WHERE s.{session.id} = '0' AND ${statements.accountStatus} <> '')`);
    this.probe = statements.statement(`SELECT ${lookups.join(' + ')} AS found, ${ROLE_COLUMNS[database.dialect]}`);
  }

  async findFailure(): Promise<FailureKind | null> {
    try {
      await this.database.autocommit(this.probe.with({}), { checkServer: refuseNotWritable, failsFast: true });
      return null;
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) return error.kind;
      throw error;
    }
  }
}

/**
 * Throws if the server does not accept writes. Runs before the connection is released, so that the pool
 * replaces the connection.
 */
function refuseNotWritable({ rows }: Result): void {
  const kind = whyNotWritable(rows[0]);
  if (kind) throw new NotWritableError(kind);
}
