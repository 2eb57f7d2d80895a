import type { DataSource } from 'typeorm';
import { isDistinctId, type StoredUser, type UserId } from '../adapters/user-store';
import { UUID } from '../base/fields';
import type { Dialect } from '../database/dialect';
import type { Column } from '../database/typeorm';

/**
 * Returns the user if the user's id, as text, is exactly the given id, otherwise null. A database may match a different
 * id: MySQL and MariaDB compare text with numbers, and a collation may ignore case.
 */
export function withExactId(user: StoredUser | null, id: UserId): StoredUser | null {
  return user && String(user.id) === String(id) ? user : null;
}

/**
 * The formats of ids by the type of their column, as patterns that JavaScript and PostgreSQL
 * interpret alike. A text in another format is not the id of any user, and must not be cast:
 * the type of the column may have changed since a session was opened, and one failed cast would
 * fail the lookup of every session in the batch.
 */
const ID_FORMATS: readonly { readonly types: RegExp; readonly pattern: string; readonly postgresType: string }[] = [
  { types: /^(\w*int\w*|\w*serial\w*)$/, pattern: '^(0|-?[1-9][0-9]{0,18})$', postgresType: 'bigint' },
  { types: /^uuid$/, pattern: UUID.source, postgresType: 'uuid' },
];

/** The sizes of PostgreSQL's integer types. PostgreSQL fails if a parameter does not fit. */
const POSTGRES_BITS: Readonly<Record<string, number>> = { smallint: 16, integer: 32, bigint: 64 };

/** The ids of the users in a table. The id column can have any type, but sessions store ids as text. */
export class UserIds {
  /** The property of the primary key. */
  readonly property: string;
  private readonly column: Column;
  /** The column type, as the driver names it. */
  private readonly type: string;
  private readonly format: (typeof ID_FORMATS)[number] | undefined;

  constructor(
    idColumn: Column,
    dataSource: DataSource,
    private readonly dialect: Dialect,
  ) {
    this.property = idColumn.propertyPath;
    this.column = idColumn;
    this.type = dataSource.driver.normalizeType(idColumn);
    this.format = ID_FORMATS.find(({ types }) => types.test(this.type));
  }

  /** Returns a stored id as a number if the column is an integer other than bigint, otherwise as text. */
  parse(text: string): UserId {
    const { type } = this.column;
    return type === Number || /^(int|integer|smallint|mediumint|tinyint|int2|int4)$/.test(String(type))
      ? Number(text)
      : text;
  }

  /**
   * Returns the id as a parameter, or null if the id does not match the format of its column (see
   * `ID_FORMATS`) or, on PostgreSQL, does not fit into an integer column. As parameters, MySQL
   * would treat `abc` as 0 and `7x` as 7, and PostgreSQL would fail.
   */
  parameterOf(id: UserId): UserId | null {
    const text = String(id);
    if (this.format && !new RegExp(this.format.pattern, 'i').test(text)) return null;
    const bits = this.dialect === 'postgres' ? POSTGRES_BITS[this.type] : undefined;
    const fits = bits === undefined || BigInt.asIntN(bits, BigInt(text)) === BigInt(text);
    return fits ? this.parse(text) : null;
  }

  /** Returns whether the library's tables distinguish this id from all other ids. */
  isDistinct(id: string): boolean {
    return this.dialect !== 'mysql' || isDistinctId(id);
  }

  /** Returns the condition that the row `u` is the user of the session `s`. The condition can use the index. */
  ofSession(): string {
    const sameText =
      // MySQL also casts text that merely starts with a number, such as `7x`.
      this.dialect === 'mysql' && this.isInteger
        ? `AND CAST(u.{user.${this.property}} AS CHAR) = s.{session.userId}`
        : '';
    return `u.{user.${this.property}} = ${this.castSessionUserId()} ${sameText}`;
  }

  private castSessionUserId(): string {
    const text = 's.{session.userId}';
    if (this.dialect === 'postgres') {
      const { format, type } = this;
      if (format) return `CASE WHEN ${text} ~* '${format.pattern}' THEN CAST(${text} AS ${format.postgresType}) END`;
      // The type `character` without a length means character(1).
      return `CAST(${text} AS ${type === 'character' ? 'bpchar' : type})`;
    }
    if (this.dialect === 'mysql' && this.isInteger) {
      return `CAST(${text} AS ${this.column.unsigned ? 'UNSIGNED' : 'SIGNED'})`;
    }
    return text;
  }

  private get isInteger(): boolean {
    return /int/.test(this.type);
  }
}
