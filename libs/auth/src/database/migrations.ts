import { type MigrationInterface, type QueryRunner, Table, type TableColumnOptions } from 'typeorm';
import { COMPARED_BY_BYTES } from './entities';

const primary = (column: FrozenColumn): FrozenColumn => ({ ...column, primary: true });

const text = (name: string, length: number): FrozenColumn => ({ name, type: 'varchar', length });

const nullable = (column: FrozenColumn): FrozenColumn => ({ ...column, nullable: true });

const instant = (name: string): FrozenColumn => ({ name, type: 'bigint' });

const flag = (name: string): FrozenColumn => ({ name, type: 'boolean' });

const count = (name: string): FrozenColumn => ({ name, type: 'integer' });

const TABLES: readonly FrozenTable[] = [
  {
    name: 'auth_sessions',
    // Leaves space in each page for new row versions, so that refreshes and activity writes can be
    // HOT updates.
    fillFactor: 70,
    columns: [
      primary(text('id', 36)),
      text('user_id', 255),
      text('state', 16),
      nullable(text('end_reason', 32)),
      nullable(instant('ended_at')),
      instant('check_at'),
      nullable(text('ip_address', 45)),
      nullable(text('last_ip_address', 45)),
      text('login_network', 45),
      text('device_type', 16),
      text('os_family', 64),
      text('browser_family', 64),
      text('device_name', 64),
      instant('created_at'),
      instant('authenticated_at'),
      instant('last_activity'),
      instant('idle_expires_at'),
      instant('absolute_expires_at'),
      text('access_digest', 64),
      instant('access_expires_at'),
      text('refresh_digest', 64),
      instant('refresh_expires_at'),
      text('family_digest', 64),
      instant('generation'),
      nullable(instant('refreshed_at')),
      nullable(text('last_network', 45)),
      nullable(text('replay_seed', 22)),
      nullable(instant('replay_until')),
      nullable(text('replay_transport', 8)),
      nullable(text('replay_network_digest', 43)),
      count('replay_count'),
      nullable(instant('first_used_at')),
      text('methods', 512),
      nullable({ name: 'data', type: 'text' }),
      flag('remembered'),
      flag('persistent'),
      nullable(text('realm', 64)),
      nullable({ name: 'actor', type: 'text' }),
    ],
    indices: [{ columns: ['user_id', 'state'] }, { columns: ['user_id', 'login_network'] }, { columns: ['check_at'] }],
  },
  {
    name: 'auth_events',
    columns: [
      primary(instant('id')),
      nullable(text('user_id', 255)),
      text('event', 32),
      nullable(text('ip_address', 45)),
      text('user_agent', 500),
      { name: 'extra', type: 'text' },
      instant('occurred_at'),
    ],
    indices: [{ columns: ['user_id', 'id'] }],
  },
  {
    name: 'auth_login_failures',
    columns: [
      primary(text('key', 64)),
      text('account_key', 64),
      text('method', 32),
      count('failure_count'),
      instant('delayed_until'),
      instant('expires_at'),
    ],
    indices: [{ columns: ['account_key'] }, { columns: ['expires_at'] }],
  },
  {
    name: 'auth_login_tickets',
    columns: [
      primary(text('digest', 64)),
      text('user_id', 255),
      text('network_digest', 64),
      count('credentials_version'),
      text('methods', 512),
      nullable({ name: 'data', type: 'text' }),
      flag('remembered'),
      nullable(text('realm', 64)),
      count('failure_count'),
      instant('created_at'),
      instant('expires_at'),
    ],
    indices: [{ columns: ['user_id'] }, { columns: ['expires_at'] }],
  },
  {
    name: 'auth_password_resets',
    columns: [primary(text('digest', 64)), text('user_id', 255), nullable(text('realm', 64)), instant('expires_at')],
    indices: [{ columns: ['user_id'] }, { columns: ['expires_at'] }],
  },
  {
    name: 'auth_user_locks',
    columns: [
      primary(text('user_id', 255)),
      count('credentials_version'),
      instant('lock_count'),
      nullable(instant('logins_revoked_at')),
    ],
    indices: [],
  },
  {
    name: 'auth_api_keys',
    columns: [
      primary(text('id', 36)),
      text('user_id', 255),
      nullable(text('realm', 64)),
      text('name', 100),
      { name: 'scopes', type: 'text' },
      text('digest', 64),
      instant('created_at'),
      nullable(instant('expires_at')),
      nullable(instant('last_used_at')),
    ],
    indices: [{ columns: ['user_id'] }, { columns: ['expires_at'] }],
  },
];

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

/** Creates the tables of sessions, events, failed logins, login tickets, password resets, user locks and API keys. */
export class CreateAuthSessions1760000000000 extends TableMigration {
  readonly name = 'CreateAuthSessions1760000000000';
  protected readonly tables = TABLES;
}

const USERS: FrozenTable = {
  name: 'auth_users',
  columns: [
    primary(text('id', 36)),
    text('username', 255),
    text('username_key', 64),
    nullable(text('password_hash', 255)),
    flag('active'),
    instant('created_at'),
  ],
  indices: [{ columns: ['username_key'], unique: true }],
};

/** Creates the library's own table of users, for applications without their own users. */
export class CreateAuthUsers1760000000001 extends TableMigration {
  readonly name = 'CreateAuthUsers1760000000001';
  protected readonly tables = [USERS];
}

type MigrationClass = new () => MigrationInterface;

/** The library's migrations for an application with its own users. */
export const AUTH_MIGRATIONS_WITHOUT_USERS: readonly MigrationClass[] = Object.freeze([
  CreateAuthSessions1760000000000,
]);

/** All migrations of the library, for the option `migrations` of your DataSource. */
export const AUTH_MIGRATIONS: readonly MigrationClass[] = Object.freeze([
  ...AUTH_MIGRATIONS_WITHOUT_USERS,
  CreateAuthUsers1760000000001,
]);

/** A column as of the migration. Later changes to the entity do not affect this column. */
export interface FrozenColumn {
  readonly name: string;
  readonly type: 'varchar' | 'bigint' | 'integer' | 'text' | 'boolean';
  readonly length?: number;
  readonly primary?: boolean;
  readonly nullable?: boolean;
}

export interface FrozenTable {
  readonly name: string;
  /** PostgreSQL: the percentage to which inserts fill a page. */
  readonly fillFactor?: number;
  readonly columns: readonly FrozenColumn[];
  readonly indices: readonly { readonly columns: readonly string[]; readonly unique?: boolean }[];
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
