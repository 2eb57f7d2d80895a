import type { DatabaseName } from '../databases';

/** SQL that differs between databases. `i` is the current number of `numbers`. */
interface Sql {
  /** A table `n` with the whole numbers `i` from the first to the last. */
  readonly numbers: (first: number, last: number) => string;
  /**
   * A UUID that depends on seven hexadecimal digits of salt and on a number. UUIDs of successive numbers are
   * not in order.
   */
  readonly uuid: (salt: string, number: string) => string;
  /** 64 hexadecimal digits, different for each `i`. */
  readonly digest: (salt: string) => string;
  /** Integer division. */
  readonly divide: (number: string, divisor: number) => string;
  readonly analyze: (tables: readonly string[]) => readonly string[];
  /** Selects the size of a table with its indexes as `bytes`. */
  readonly size: (table: string) => string;
  /** The stored bytes of a row `t` with these columns. */
  readonly rowBytes: (columns: readonly string[]) => string;
}

export const SQL: Record<DatabaseName, Sql> = {
  sqlite: {
    numbers: (first, last) =>
      `(WITH RECURSIVE c(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM c WHERE i < ${last}) SELECT i FROM c) n`,
    // Numbers below 2^32 stay different, because the factor is odd.
    uuid: (salt, number) =>
      `printf('%08x-${salt.slice(0, 4)}-4${salt.slice(4)}-8000-%012x', (${number}) * 2654435761 % 4294967296, ${number})`,
    digest: () => 'lower(hex(randomblob(32)))',
    divide: (number, divisor) => `(${number}) / ${divisor}`,
    analyze: () => ['ANALYZE'],
    size: () => 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
    rowBytes: (columns) => columns.map((column) => `coalesce(length(CAST(t.${column} AS BLOB)), 0)`).join(' + '),
  },
  postgres: {
    numbers: (first, last) => `(SELECT i FROM generate_series(${first}, ${last}) i) n`,
    uuid: (salt, number) => `md5('${salt}-' || (${number}))::uuid`,
    digest: (salt) => `encode(sha256(('${salt}-' || i)::bytea), 'hex')`,
    divide: (number, divisor) => `(${number}) / ${divisor}`,
    analyze: (tables) => tables.map((table) => `VACUUM ANALYZE ${table}`),
    size: (table) => `SELECT pg_total_relation_size('${table}') AS bytes`,
    rowBytes: () => 'pg_column_size(t.*)',
  },
  mariadb: {
    // The LIMIT materializes the sequence, because MariaDB 10.11 loses rows when it sorts a sequence.
    numbers: (first, last) => `(SELECT seq AS i FROM seq_${first}_to_${last} LIMIT 18446744073709551615) n`,
    uuid: (salt, number) =>
      [9, 14, 19, 24].reduce((text, at) => `INSERT(${text}, ${at}, 0, '-')`, `MD5(CONCAT('${salt}-', ${number}))`),
    digest: (salt) => `SHA2(CONCAT('${salt}-', i), 256)`,
    divide: (number, divisor) => `(${number}) DIV ${divisor}`,
    analyze: (tables) => [`ANALYZE TABLE ${tables.join(', ')}`],
    size: (table) => `SELECT data_length + index_length AS bytes FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_name = '${table}'`,
    rowBytes: (columns) => columns.map((column) => `COALESCE(OCTET_LENGTH(t.${column}), 0)`).join(' + '),
  },
};

/** The maximum number of rows per statement. With default settings, every database completes such a statement. */
const CHUNK = 500_000;

/** Runs a statement for the numbers from 1 to the count, in chunks. */
export async function inChunks(count: number, run: (first: number, last: number) => Promise<unknown>): Promise<void> {
  for (let first = 1; first <= count; first += CHUNK) await run(first, Math.min(count, first + CHUNK - 1));
}
