import { Logger } from '@nestjs/common';
import type { StoredUser } from '../adapters/user-store';
import { loggable } from '../base/failures';
import { foldName, type NameMatching } from '../base/fields';
import { type Dialect, isSameText } from '../database/dialect';
import type { Row } from '../database/transaction';

/**
 * Returns the user if the user's name equals the given name by the rules of `matching`, otherwise
 * null. A database may match a different name: a collation may ignore case, accents or trailing
 * spaces.
 */
export function withSameName(user: StoredUser | null, username: string, matching: NameMatching): StoredUser | null {
  return user && foldName(user.username, matching) === foldName(username, matching) ? user : null;
}

/** The column by which users are found, and how its value is computed from a name. */
export interface NameKey {
  readonly property: string;
  /** @param name the name in its compared form */
  of(name: string): string;
  /** How an application computes the value, as messages describe it. */
  readonly written: string;
}

/**
 * Finds users by the compared form of their names (see `foldName`), byte by byte. Failed logins with an
 * unknown name are counted under the same form of the entered name.
 */
export class UserNames {
  private readonly logger = new Logger('AuthUsers');
  private readonly logged = new Set<string>();

  constructor(
    private readonly entityName: string,
    private readonly matching: NameMatching,
    private readonly key: NameKey,
  ) {}

  /** Returns the column that `rowOf` reads in addition to `id`, `username` and `account`. */
  get column(): string {
    return `${this.keyColumn} AS name_key`;
  }

  /**
   * Returns the condition for the users `u` with the key `:name`, with a limit. The first comparison can
   * use the index and follows the collation of the column. The second comparison removes names that
   * only the collation treats as equal, so that such names do not count toward the limit. Deleted users
   * come last.
   */
  conditionFor(dialect: Dialect, status: string): string {
    return `${this.keyColumn} = :name AND ${isSameText(dialect, this.keyColumn, ':name')}
      ORDER BY CASE WHEN ${status} = 'deleted' THEN 1 ELSE 0 END LIMIT 10`;
  }

  /** Returns the value of a name in the column. */
  keyOf(username: string): string {
    return this.key.of(foldName(username, this.matching));
  }

  /**
   * Returns the row of the user with this name. Returns null if no user has the name, or if several users
   * who are not deleted have it. Compares the names again, because the key that the database has compared
   * may be outdated.
   */
  rowOf(username: string, rows: readonly Row[]): Row | null {
    const key = this.keyOf(username);
    const found = rows.filter((row) => String(row['name_key']) === key);
    const isStale = (row: Row): boolean => this.keyOf(String(row['username'])) !== key;
    const same = found.filter((row) => !isStale(row));
    const stale = found.find((row) => isStale(row) && row['account'] !== 'deleted');
    if (stale) this.warnAboutStaleKey(stale);
    const [first, ...others] = same.filter((row) => row['account'] !== 'deleted');
    if (others.length === 0) return first ?? same[0] ?? null;
    // The name does not identify one user, so a login by this name is refused.
    this.warnAboutDuplicates();
    return null;
  }

  private get keyColumn(): string {
    return `u.{user.${this.key.property}}`;
  }

  private warnAboutDuplicates(): void {
    this.warnOnce(
      'duplicates',
      `Several rows of ${this.entityName} have the same ${this.key.property}, so their users cannot log in by name. ` +
        'Rename all but one, and add a unique index.',
    );
  }

  /**
   * Warns that the key of a row does not match its name, for example because the application has changed
   * only the name. The user cannot be found by any name.
   */
  private warnAboutStaleKey({ id }: Row): void {
    const { entityName, key } = this;
    this.warnOnce(
      'stale',
      `In the row of ${entityName} with the id ${loggable(String(id))}, ${key.property} does not match the name, so ` +
        `the user cannot log in by name. Set ${key.property} to ${key.written} whenever a name changes, also by ` +
        'update(), upsert() and query builders, which can skip entity listeners. Logged once.',
    );
  }

  private warnOnce(kind: string, text: string): void {
    if (this.logged.has(kind)) return;
    this.logged.add(kind);
    this.logger.warn(text);
  }
}
