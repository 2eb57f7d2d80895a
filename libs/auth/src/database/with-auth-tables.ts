import type { DataSourceOptions } from 'typeorm';
import { AUTH_ENTITIES, AUTH_ENTITIES_WITHOUT_USERS } from './entities';
import { AUTH_MIGRATIONS, AUTH_MIGRATIONS_WITHOUT_USERS } from './migrations';

/** The second argument of `withAuthTables`. */
export interface AuthTablesOptions {
  /**
   * Whether to include `auth_users`, the library's own table of users. Set it to false if your application has its own
   * users (the option `users` of `AuthModule`). Default: true.
   */
  readonly usersTable?: boolean;
}

/**
 * Returns the options of a DataSource with the library's entities and migrations added to its own. An entity or
 * migration that the options already list is not added again.
 *
 * ```ts
 * TypeOrmModule.forRoot(withAuthTables({ type: 'postgres', url, entities: [Article], migrationsRun: true }))
 * ```
 *
 * The tables are created by the migrations (`migrationsRun: true` or `typeorm migration:run`) or by `synchronize: true`.
 */
export function withAuthTables<Options extends Partial<DataSourceOptions>>(
  options: Options,
  { usersTable = true }: AuthTablesOptions = {},
): Options {
  return {
    ...options,
    entities: merge(options.entities, usersTable ? AUTH_ENTITIES : AUTH_ENTITIES_WITHOUT_USERS),
    migrations: merge(options.migrations, usersTable ? AUTH_MIGRATIONS : AUTH_MIGRATIONS_WITHOUT_USERS),
  };
}

/** @param listed an array or an object whose values are the items, such as `import * as entities` */
function merge<Item>(listed: Readonly<Record<string, Item>> | readonly Item[] = [], added: readonly Item[]): Item[] {
  return [...new Set([...(Object.values(listed) as readonly Item[]), ...added])];
}
