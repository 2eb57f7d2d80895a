import { Logger } from '@nestjs/common';
import { foldName, type NameMatching } from '../../domain/username';
import { isSameText, type Dialect } from '../database/dialect';
import type { Row } from '../database/transaction';

/** The column by which users are found, and the value that a name has in it. */
export interface NameKey {
  readonly property: string;
  /** @param name in the form in which names are compared */
  of(name: string): string;
}

/**
 * Finds users by name, byte by byte in the form in which names are compared. Failed logins are counted under this form of
 * the name that was given: a user found by any other name would have several failure streaks.
 */
export class UserNames {
  private readonly logger = new Logger('AuthUsers');
  private hasWarned = false;

  constructor(
    private readonly entityName: string,
    private readonly matching: NameMatching,
    private readonly key: NameKey,
  ) {}

  /** What `rowOf` reads of a user `u`, besides `username` and `account`. */
  get column(): string {
    return `${this.keyColumn} AS name_key`;
  }

  /**
   * The condition for the users `u` named `:name`, with a limit. The index serves the first comparison, by the column's
   * collation. The second one leaves out what that takes for the same, so that the limit never cuts off the user.
   */
  conditionFor(dialect: Dialect): string {
    return `${this.keyColumn} = :name AND ${isSameText(dialect, this.keyColumn, ':name')} LIMIT 10`;
  }

  /** The value of a name in the column. */
  keyOf(username: string): string {
    return this.key.of(foldName(username, this.matching));
  }

  /** The row of the user with this name, or null. The comparison that counts is made here. */
  rowOf(username: string, rows: readonly Row[]): Row | null {
    const key = this.keyOf(username);
    // An application may have changed the name without its key.
    const same = rows.filter((row) => String(row['name_key']) === key && this.keyOf(String(row['username'])) === key);
    const [first, ...others] = same.filter((row) => row['account'] !== 'deleted');
    if (others.length === 0) return first ?? same[0] ?? null;
    // The login of one would end the failure streak of the other.
    this.warnAboutTwins();
    return null;
  }

  private get keyColumn(): string {
    return `u.{user.${this.key.property}}`;
  }

  private warnAboutTwins(): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.logger.warn(
      `Several rows of ${this.entityName} have the same ${this.key.property}, so none of them can log in by name. ` +
        'Rename all but one, and add a unique index.',
    );
  }
}
