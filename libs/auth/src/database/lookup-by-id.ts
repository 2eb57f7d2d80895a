import type { Database } from './database';
import type { Statement, StatementFactory } from './statements';
import type { Row } from './transaction';

/** The sizes of IN lists for databases that cannot pass a list as one parameter. Shorter lists are padded. */
const LIST_SIZES = [8, 32, 128];

/** Reads the rows of one or many ids in one prepared statement, for the guard. */
export class LookupById {
  private readonly lookups: readonly { readonly size: number; readonly statement: Statement }[];

  /** @param select returns the template of the statement for a condition on the id, such as `= :id` */
  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    select: (condition: string) => string,
  ) {
    const compile = (condition: string): Statement => statements.prepared(select(condition));
    // PostgreSQL plans a list of unknown length at each run, which costs more than a lookup of one id.
    this.lookups = [
      { size: 1, statement: compile('= :id') },
      ...(statements.dialect === 'postgres'
        ? [{ size: Infinity, statement: compile('= ANY(:ids)') }]
        : LIST_SIZES.map((size) => ({ size, statement: compile('IN (:ids...)') }))),
    ];
  }

  rows(ids: readonly string[]): Promise<readonly Row[]> {
    const { size, statement } = this.lookups.find((lookup) => lookup.size >= ids.length)!;
    const list = size === Infinity ? ids : Array.from({ length: size }, (_, i) => ids[i] ?? ids[0]);
    return this.database.read(statement.with({ id: ids[0], ids: list }));
  }
}
