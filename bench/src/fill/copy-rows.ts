import { randomBytes } from 'node:crypto';
import type { DataSource, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import type { DatabaseName } from '../databases';
import { inChunks, SQL } from './sql';

/** SQL by property name; `i` is the number of the copy, from 1. */
type Values = Readonly<Record<string, string>>;

interface CopyOptions {
  readonly count: number;
  /**
   * The columns that differ from the original. Other keys and unique texts are random, and other columns are
   * copied.
   */
  readonly values?: Values;
  /** How far every timestamp of the row is moved into the past, in milliseconds. Default: 0. */
  readonly ageMs?: number;
}

export function newSalt(): string {
  return randomBytes(4).toString('hex').slice(1);
}

/**
 * Inserts copies of a row that the library wrote, in bulk. All columns come from the entity's metadata, so the copies
 * stay valid when columns are added or removed.
 */
export async function copyRow(
  dataSource: DataSource,
  database: DatabaseName,
  entity: EntityTarget<ObjectLiteral>,
  key: string | number,
  { count, values = {}, ageMs = 0 }: CopyOptions,
): Promise<void> {
  const metadata = dataSource.getMetadata(entity);
  const { tableName, columns } = metadata;
  const primary = metadata.primaryColumns[0]!;
  const original = await readRow(dataSource, metadata, primary, key);
  const sql = SQL[database];
  const salt = newSalt();
  const valueOf = (column: ColumnMetadata): string => {
    if (values[column.propertyName] !== undefined) return values[column.propertyName]!;
    if (column === primary) return sql.uuid(salt, 'i');
    if (isUnique(metadata, column)) return sql.digest(salt);
    return literal(database, aged(column, original[column.databaseName], ageMs));
  };
  const quoted = (name: string): string => dataSource.driver.escape(name);
  const names = columns.map(({ databaseName }) => quoted(databaseName)).join(', ');
  const expressions = columns.map(valueOf).join(', ');
  // Inserts the rows in key order, which is the cheapest order for the primary index.
  await inChunks(count, (first, last) =>
    dataSource.query(
      `INSERT INTO ${tableName} (${names})
       SELECT ${expressions} FROM ${sql.numbers(first, last)} ORDER BY ${columns.indexOf(primary) + 1}`,
    ),
  );
}

async function readRow(
  dataSource: DataSource,
  { tableName }: EntityMetadata,
  { databaseName }: ColumnMetadata,
  key: string | number,
): Promise<Readonly<Record<string, unknown>>> {
  const [row] = await dataSource.query<Record<string, unknown>[]>(
    `SELECT * FROM ${tableName} WHERE ${databaseName} = '${key}'`,
  );
  if (!row) throw new Error(`${tableName} has no row ${key}.`);
  return row;
}

function isUnique({ indices, uniques }: EntityMetadata, column: ColumnMetadata): boolean {
  const isOnly = ({ columns }: { columns: ColumnMetadata[] }): boolean => columns.length === 1 && columns[0] === column;
  return indices.some((index) => index.isUnique && isOnly(index)) || uniques.some(isOnly);
}

/** The smallest number that counts as a timestamp in milliseconds: a time in the year 2001. */
const FIRST_TIMESTAMP = 1e12;

function aged(column: ColumnMetadata, value: unknown, ageMs: number): unknown {
  const isTimestamp = column.type === 'bigint' && Number(value) > FIRST_TIMESTAMP;
  return isTimestamp ? Number(value) - ageMs : value;
}

function literal(database: DatabaseName, value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (Buffer.isBuffer(value)) {
    const hex = value.toString('hex');
    return database === 'postgres' ? `'\\x${hex}'::bytea` : `x'${hex}'`;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const escaped = database === 'mariadb' ? text.replaceAll('\\', '\\\\') : text;
  return `'${escaped.replaceAll("'", "''")}'`;
}
