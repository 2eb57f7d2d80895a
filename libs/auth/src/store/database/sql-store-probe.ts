import { Injectable } from '@nestjs/common';
import { StoreProbe } from '../../domain/ports/sessions';
import { Database } from './database';
import { StatementFactory } from './statement-factory';

/** One statement, with a look into the index of each table. */
@Injectable()
export class SqlStoreProbe extends StoreProbe {
  private readonly looks;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
  ) {
    super();
    const keys = ['session.id', 'event.id', 'failure.key', 'reset.digest', 'lock.userId'];
    const looks = keys.map((key) => `(SELECT COUNT(*) FROM {${key.split('.')[0]}} WHERE {${key}} = '0')`);
    this.looks = statements.statement(`SELECT ${looks.join(' + ')} AS found`);
  }

  async read(): Promise<void> {
    await this.database.autocommit(this.looks.with({}));
  }
}
