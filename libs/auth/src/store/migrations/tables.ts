import { Table, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';
import { COMPARED_BY_BYTES } from '../entities/columns';

/** A column as of the migration. Later changes to the entity do not affect this column. */
export interface FrozenColumn {
  readonly name: string;
  readonly type: 'varchar' | 'bigint' | 'integer' | 'text' | 'boolean';
  readonly length?: number;
  readonly primary?: boolean;
  readonly nullable?: boolean;
}

export const text = (name: string, length: number): FrozenColumn => ({ name, type: 'varchar', length });
export const instant = (name: string): FrozenColumn => ({ name, type: 'bigint' });
export const count = (name: string): FrozenColumn => ({ name, type: 'integer' });
export const primary = (column: FrozenColumn): FrozenColumn => ({ ...column, primary: true });
export const nullable = (column: FrozenColumn): FrozenColumn => ({ ...column, nullable: true });

export interface FrozenTable {
  readonly name: string;
  /** PostgreSQL: the percentage to which inserts fill a page. */
  readonly fillFactor?: number;
  readonly columns: readonly FrozenColumn[];
  readonly indices: readonly { readonly columns: readonly string[]; readonly unique?: boolean }[];
}

/**
 * Creates tables on any supported database, in the application's schema, with its entity prefix and naming
 * strategy. Drops the tables when the migration is reverted.
 */
export abstract class TableMigration implements MigrationInterface {
  /** The name ends with a timestamp, by which TypeORM orders migrations. */
  abstract readonly name: string;
  protected abstract readonly tables: readonly FrozenTable[];

  async up(runner: QueryRunner): Promise<void> {
    for (const table of this.tables) {
      await runner.createTable(resolve(runner, table));
      if (table.fillFactor !== undefined) await setFillFactor(runner, table.name, table.fillFactor);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of [...this.tables].reverse()) await runner.dropTable(tablePath(runner, name));
  }
}

async function setFillFactor(runner: QueryRunner, name: string, fillFactor: number): Promise<void> {
  const { driver, options } = dataSourceOf(runner);
  if (options.type !== 'postgres') return;
  const parts = tablePath(runner, name).split('.');
  const table = parts.map((part) => driver.escape(part)).join('.');
  await runner.query(`ALTER TABLE ${table} SET (fillfactor = ${fillFactor})`);
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
    indices: table.indices.map(({ columns, unique }) => ({ columnNames: columns.map(columnName), isUnique: !!unique })),
  });
}

function tablePath(runner: QueryRunner, name: string): string {
  const { driver, namingStrategy, options } = dataSourceOf(runner);
  const schema = (options as { schema?: string }).schema;
  const own = namingStrategy.tableName(name, name);
  const prefixed = options.entityPrefix ? namingStrategy.prefixTableName(options.entityPrefix, own) : own;
  return driver.buildTableName(prefixed, schema, undefined);
}

/** TypeORM 0.3 names the property `connection`, and TypeORM 1.x names it `dataSource`. */
function dataSourceOf(runner: QueryRunner): QueryRunner['manager']['dataSource'] {
  const { manager } = runner as unknown as { manager: { dataSource?: unknown; connection?: unknown } };
  return (manager.dataSource ?? manager.connection) as QueryRunner['manager']['dataSource'];
}
