import { StoreProbe } from '../domain/ports/store-probe';
import type { AuthTables } from './auth-tables';
import type { Database } from './sql/database';

/** One statement, with a look into the index of each table. */
export class TypeOrmStoreProbe extends StoreProbe {
  private readonly looks;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
  ) {
    super();
    const look = (table: string, key: string, name: string): string =>
      `(SELECT COUNT(*) FROM {${table}} WHERE {${table}.${key}} = :${name})`;
    this.looks = tables.statement(
      `SELECT ${[
        look('session', 'id', 'text'),
        look('refresh', 'digest', 'text'),
        look('event', 'id', 'number'),
        look('failure', 'key', 'text'),
        look('reset', 'digest', 'text'),
        look('lock', 'userId', 'text'),
      ].join(' + ')} AS found`,
    );
  }

  async read(): Promise<void> {
    await this.database.single(this.looks.with({ text: '', number: 0 }));
  }
}
