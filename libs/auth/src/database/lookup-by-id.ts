import { BatchingLoader } from './batching-loader';
import type { Database } from './database';
import type { Statement, StatementFactory } from './statements';
import type { Row } from './transaction';

/** The sizes of IN lists for databases that cannot pass a list as one parameter. Shorter lists are padded. */
const LIST_SIZES = [8, 32, 128];

/** Batches the guard's reads of rows by id, and reads each batch in one prepared statement. */
export class LookupById<T> extends BatchingLoader<T> {
  /**
   * @param select returns the template of the statement for a condition on the id, such as `= :id`
   * @param onRead receives the number of ids before each read
   */
  constructor(
    database: Database,
    statements: StatementFactory,
    select: (condition: string) => string,
    fromRow: (row: Row) => T,
    onRead: (size: number) => void = () => undefined,
  ) {
    const compile = (condition: string): Statement => statements.prepared(select(condition));
    // PostgreSQL plans a list of unknown length at each run, which costs more than a lookup of one id.
    const lookups = [
      { size: 1, statement: compile('= :id') },
      ...(statements.dialect === 'postgres'
        ? [{ size: Infinity, statement: compile('= ANY(:ids)') }]
        : LIST_SIZES.map((size) => ({ size, statement: compile('IN (:ids...)') }))),
    ];
    super(async (ids) => {
      onRead(ids.length);
      const { size, statement } = lookups.find((lookup) => lookup.size >= ids.length)!;
      const list = size === Infinity ? ids : Array.from({ length: size }, (_, i) => ids[i] ?? ids[0]);
      const rows = await database.read(statement.with({ id: ids[0], ids: list }));
      return new Map(rows.map((row) => [String(row['id']), fromRow(row)]));
    });
  }
}
