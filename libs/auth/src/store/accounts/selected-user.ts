import type { UserId } from '../../domain/ports/accounts';
import type { RequestUser } from '../../domain/request-user';
import type { UserSql } from '../database/statement-factory';
import type { Row } from '../database/transaction';
import type { Column, UserTable } from './user-table';

/** What the statement that looks a session up needs of the user store. */
interface UserOfSession {
  readonly table: UserTable;
  /** Compiles a part of a statement. */
  readonly compile: (template: string) => string;
  /** Whether the row `u` is that of the user of the session `s`. */
  readonly condition: string;
  readonly parseId: (text: string) => UserId;
}

/**
 * How the look-up of a session reads `request.user` with the account, in the same statement: the name, and the
 * properties of `users.select`. Null without that option, so that the look-up reads no further column.
 */
export function selectedUserSql({ table, compile, condition, parseId }: UserOfSession): UserSql | null {
  const { mapping, metadata } = table;
  if (!mapping.select) return null;
  const columns = mapping.select.map((property) => metadata.findColumnWithPropertyPath(property)!);
  const read = [mapping.username, ...mapping.select].map((property, index) => `u.{user.${property}} AS user_${index}`);
  const status = `CASE WHEN u.{user.${table.idColumn.propertyPath}} IS NULL THEN 'deleted' ELSE ${table.statusSql()} END`;
  return {
    columns: compile(`${status} AS account, ${read.join(', ')}`),
    join: compile(`LEFT JOIN {user} u ON ${condition}`),
    fromRow: (row) => {
      const user = { id: parseId(String(row['user_id'])), username: String(row['user_0']) };
      columns.forEach((column, index) => column.setEntityValue(user, valueOf(table, column, row, `user_${index + 1}`)));
      return user satisfies RequestUser;
    },
  };
}

/** The value as TypeORM gives it to the entity. Requests that share a row get values of their own. */
function valueOf({ dataSource }: UserTable, column: Column, row: Row, name: string): unknown {
  const stored = row[name];
  const isShared = typeof stored === 'object' && stored !== null && !Buffer.isBuffer(stored);
  return dataSource.driver.prepareHydratedValue(isShared ? structuredClone(stored) : stored, column);
}
