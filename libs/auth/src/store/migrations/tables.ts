import { Table, type QueryRunner, type TableColumnOptions, type TableIndexOptions } from 'typeorm';
import { COMPARED_BY_BYTES } from '../entities/columns';

/** A column as a migration writes it down: what it was then, whatever the entity is today. */
export interface FrozenColumn {
  readonly name: string;
  readonly type: 'varchar' | 'bigint' | 'integer' | 'text' | 'boolean';
  readonly length?: number;
  readonly primary?: boolean;
  readonly nullable?: boolean;
}

export interface FrozenTable {
  readonly name: string;
  readonly columns: readonly FrozenColumn[];
  readonly indices: readonly { readonly columns: readonly string[]; readonly unique?: boolean }[];
}

/** Creates the tables on the database at hand, under the host's schema, entity prefix and naming strategy. */
export async function createTables(runner: QueryRunner, tables: readonly FrozenTable[]): Promise<void> {
  for (const table of tables) await runner.createTable(resolve(runner, table));
}

export async function dropTables(runner: QueryRunner, tables: readonly FrozenTable[]): Promise<void> {
  for (const table of [...tables].reverse()) await runner.dropTable(tablePath(runner, table.name));
}

function resolve(runner: QueryRunner, table: FrozenTable): Table {
  const { driver, namingStrategy } = dataSourceOf(runner);
  const columnName = (name: string): string => namingStrategy.columnName(name, name, []);
  return new Table({
    name: tablePath(runner, table.name),
    engine: COMPARED_BY_BYTES.engine!,
    columns: table.columns.map((column): TableColumnOptions => ({
      name: columnName(column.name),
      type: driver.normalizeType({ type: column.type === 'boolean' ? Boolean : column.type }),
      ...(column.length ? { length: String(column.length) } : {}),
      isPrimary: column.primary ?? false,
      isNullable: column.nullable ?? false,
    })),
    indices: table.indices.map((index): TableIndexOptions => ({
      columnNames: index.columns.map(columnName),
      isUnique: index.unique ?? false,
    })),
  });
}

function tablePath(runner: QueryRunner, name: string): string {
  const { driver, namingStrategy, options } = dataSourceOf(runner);
  const schema = (options as { schema?: string }).schema;
  const own = namingStrategy.tableName(name, name);
  const prefixed = options.entityPrefix ? namingStrategy.prefixTableName(options.entityPrefix, own) : own;
  return driver.buildTableName(prefixed, schema, undefined);
}

/** TypeORM 0.3 calls it `connection`, 1.x `dataSource`. */
function dataSourceOf(runner: QueryRunner): QueryRunner['manager']['dataSource'] {
  const { manager } = runner as unknown as { manager: { dataSource?: unknown; connection?: unknown } };
  return (manager.dataSource ?? manager.connection) as QueryRunner['manager']['dataSource'];
}
