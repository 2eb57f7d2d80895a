import { Injectable } from '@nestjs/common';
import type { FailureKind } from '../../domain/metrics';
import { StoreProbe } from '../../domain/ports/maintenance';
import { Database } from './database';
import { DatabaseUnavailableError, NotWritableError } from './failure';
import { ROLE_COLUMNS, whyNotWritable } from './server-role';
import { StatementFactory } from './statement-factory';
import type { Result } from './transaction';

/** One statement, with a look into the index of each table, which also asks the server whether it takes writes. */
@Injectable()
export class SqlStoreProbe extends StoreProbe {
  private readonly looks;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
  ) {
    super();
    const keys = ['session.id', 'event.id', 'failure.key', 'reset.digest', 'ticket.digest', 'lock.userId'];
    const looks = keys.map((key) => `(SELECT COUNT(*) FROM {${key.split('.')[0]}} WHERE {${key}} = '0')`);
    this.looks = statements.statement(`SELECT ${looks.join(' + ')} AS found, ${ROLE_COLUMNS[database.dialect]}`);
  }

  async findFailure(): Promise<FailureKind | null> {
    try {
      await this.database.autocommit(this.looks.with({}), { judge: refuseNotWritable, failsFast: true });
      return null;
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) return error.kind;
      throw error;
    }
  }
}

/** Thrown while the connection is in use, so that the pool is rid of it. */
function refuseNotWritable({ rows }: Result): void {
  const kind = whyNotWritable(rows[0]);
  if (kind) throw new NotWritableError(kind);
}
