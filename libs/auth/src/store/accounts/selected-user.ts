import type { UserId } from '../../domain/ports/accounts';
import type { RequestUser } from '../../domain/request-user';
import type { UserSql } from '../database/statement-factory';
import type { Row } from '../database/transaction';
import type { Column, UserTable } from './user-table';

/** The input of `selectedUserSql`, which builds the user store's part of the statement that looks up a session. */
interface SessionUserSql {
  readonly table: UserTable;
  /** Compiles a part of the statement. */
  readonly compile: (template: string) => string;
  /** The condition that the row `u` is the user of the session `s`. */
  readonly condition: string;
  readonly parseId: (text: string) => UserId;
}

/**
 * Returns the SQL with which the lookup of a session also reads the status of the account, the username, and
 * the properties in `users.select`. The function `fromRow` builds `request.user` from the row.
 */
export function selectedUserSql({ table, compile, condition, parseId }: SessionUserSql): UserSql {
  const { mapping, metadata } = table;
  const selected = mapping.select ?? [];
  const columns = selected.map((property) => metadata.findColumnWithPropertyPath(property)!);
  const selectList = [mapping.username, ...selected].map((property, index) => `u.{user.${property}} AS user_${index}`);
  const status = `CASE WHEN u.{user.${table.idColumn.propertyPath}} IS NULL THEN 'deleted' ELSE ${table.statusSql()} END`;
  return {
    columns: compile(`${status} AS account, ${selectList.join(', ')}`),
    join: compile(`LEFT JOIN {user} u ON ${condition}`),
    fromRow: (row) => {
      const user = { id: parseId(String(row['user_id'])), username: String(row['user_0']) };
      columns.forEach((column, index) => column.setEntityValue(user, valueOf(table, column, row, `user_${index + 1}`)));
      return user satisfies RequestUser;
    },
  };
}

/**
 * Converts a value as TypeORM does for an entity. Requests that share a row receive separate copies, except of
 * buffers.
 */
function valueOf({ dataSource }: UserTable, column: Column, row: Row, name: string): unknown {
  const stored = row[name];
  const isShared = typeof stored === 'object' && stored !== null && !Buffer.isBuffer(stored);
  return dataSource.driver.prepareHydratedValue(isShared ? structuredClone(stored) : stored, column);
}
