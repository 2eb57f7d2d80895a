import type { DataSource } from 'typeorm';
import type { UserId } from '../adapters/user-store';
import { UUID } from '../base/fields';
import type { Dialect } from '../database/dialect';
import type { Column } from '../database/typeorm';

/**
 * The formats of ids by the type of their column, as patterns that JavaScript and PostgreSQL interpret alike. A text in
 * another format is no user's id, and is not cast: one failed cast would fail the lookup of every session in the batch.
 */
const ID_FORMATS: readonly { readonly types: RegExp; readonly pattern: string; readonly postgresType: string }[] = [
  { types: /^(\w*int\w*|\w*serial\w*)$/, pattern: '^(0|-?[1-9][0-9]{0,18})$', postgresType: 'bigint' },
  { types: /^uuid$/, pattern: UUID.source, postgresType: 'uuid' },
];

/** The sizes of PostgreSQL's integer types. */
const POSTGRES_BITS: Readonly<Record<string, number>> = { smallint: 16, integer: 32, bigint: 64 };

/** Compares the ids of users, whose column can have any type, with those in sessions, which are text. */
export class UserIds {
  private readonly type: string;
  private readonly format: (typeof ID_FORMATS)[number] | undefined;
  /** Whether the text of an id in the database can differ from that in sessions. */
  readonly isPadded: boolean;

  constructor(
    private readonly column: Column,
    dataSource: DataSource,
    private readonly dialect: Dialect,
  ) {
    this.type = dataSource.driver.normalizeType(column);
    this.isPadded = dialect === 'postgres' && this.type === 'character';
    this.format = ID_FORMATS.find(({ types }) => types.test(this.type));
  }

  /**
   * Returns the id as a parameter. Returns null, which matches no row, if the id does not match the format of its column
   * or, on PostgreSQL, is too large.
   * MySQL would treat `abc` as 0 and `7x` as 7, and PostgreSQL would fail, or accept a UUID in upper case, which differs
   * from the text in sessions.
   */
  parameterOf(id: UserId): string | null {
    const text = String(id);
    if (this.format && !new RegExp(this.format.pattern).test(text)) return null;
    const bits = this.dialect === 'postgres' ? POSTGRES_BITS[this.type] : undefined;
    return bits === undefined || BigInt.asIntN(bits, BigInt(text)) === BigInt(text) ? text : null;
  }

  /** Returns the condition that the row `u` is the user of the session `s`. The condition can use the index. */
  ofSession(): string {
    const id = `u.{user.${this.column.propertyPath}}`;
    const text = 's.{session.userId}';
    const { dialect, format, type } = this;
    if (dialect === 'postgres') {
      if (format)
        return `${id} = CASE WHEN ${text} ~* '${format.pattern}' THEN CAST(${text} AS ${format.postgresType}) END`;
      // The type `character` without a length means character(1).
      return `${id} = CAST(${text} AS ${type === 'character' ? 'bpchar' : type})`;
    }
    if (dialect === 'mysql' && type.includes('int')) {
      // MySQL also casts text that merely starts with a number, such as `7x`.
      return `${id} = CAST(${text} AS ${this.column.unsigned ? 'UNSIGNED' : 'SIGNED'}) AND CAST(${id} AS CHAR) = ${text}`;
    }
    return `${id} = ${text}`;
  }
}
