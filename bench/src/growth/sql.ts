import type { DatabaseName } from '../../../test/support/databases';

/** How each database counts, and makes text of a number. */
export interface Sql {
  /** A table `n` of the whole numbers `i` from the first to the last. */
  readonly numbers: (first: number, last: number) => string;
  /** A letter and a number, in so many characters. */
  readonly text: (letter: string, number: string, length: number) => string;
  /** 64 characters that look like a digest and are one's own. */
  readonly digest: (salt: string) => string;
  /** Integer division. */
  readonly by: (number: string, divisor: number) => string;
  readonly analyze: readonly string[];
  /** Asks what the tables of sessions and their tokens take, indexes included, in `bytes`. */
  readonly size: string;
}

const GROWN = ['auth_sessions', 'auth_refresh_tokens'];
const TABLES = ['auth_users', ...GROWN, 'auth_events'];

export const SQL: Record<DatabaseName, Sql> = {
  sqlite: {
    numbers: (first, last) =>
      `(WITH RECURSIVE c(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM c WHERE i < ${last}) SELECT i FROM c) n`,
    text: (letter, number, length) => `'${letter}' || printf('%0${length - 1}d', ${number})`,
    digest: () => 'lower(hex(randomblob(32)))',
    by: (number, divisor) => `(${number}) / ${divisor}`,
    analyze: ['ANALYZE'],
    size: 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
  },
  postgres: {
    numbers: (first, last) => `(SELECT i FROM generate_series(${first}, ${last}) i) n`,
    text: (letter, number, length) => `'${letter}' || lpad((${number})::text, ${length - 1}, '0')`,
    digest: (salt) => `encode(sha256(('${salt}' || i)::bytea), 'hex')`,
    by: (number, divisor) => `(${number}) / ${divisor}`,
    analyze: TABLES.map((table) => `VACUUM ANALYZE ${table}`),
    size: `SELECT ${GROWN.map((table) => `pg_total_relation_size('${table}')`).join(' + ')} AS bytes`,
  },
  mariadb: {
    // The limit makes a table of it: of a sequence itself MariaDB 10.11 loses rows when it sorts them.
    numbers: (first, last) => `(SELECT seq AS i FROM seq_${first}_to_${last} LIMIT 18446744073709551615) n`,
    text: (letter, number, length) => `CONCAT('${letter}', LPAD(${number}, ${length - 1}, '0'))`,
    digest: (salt) => `SHA2(CONCAT('${salt}', i), 256)`,
    by: (number, divisor) => `(${number}) DIV ${divisor}`,
    analyze: [`ANALYZE TABLE ${TABLES.join(', ')}`],
    size: `SELECT SUM(data_length + index_length) AS bytes FROM information_schema.tables
      WHERE table_schema = DATABASE() AND table_name IN (${GROWN.map((table) => `'${table}'`).join(', ')})`,
  },
};

/** Rows of one statement: what one transaction of a database takes with ease. */
const CHUNK = 500_000;

/** Runs a statement for the numbers from 1 to the count, so many at a time. */
export async function inChunks(count: number, run: (first: number, last: number) => Promise<unknown>): Promise<void> {
  for (let first = 1; first <= count; first += CHUNK) await run(first, Math.min(count, first + CHUNK - 1));
}
