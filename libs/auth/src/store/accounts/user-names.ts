import { Logger } from '@nestjs/common';
import { loggable } from '../../domain/loggable';
import { foldName, type NameMatching } from '../../domain/username';
import { isSameText, type Dialect } from '../database/dialect';
import type { Row } from '../database/transaction';

/** The column by which users are found, and the value that a name has in it. */
export interface NameKey {
  readonly property: string;
  /** @param name in the form in which names are compared */
  of(name: string): string;
  /** How an application writes that value. */
  readonly written: string;
}

/**
 * Finds users by name, byte by byte in the form in which names are compared. Failed logins are counted under this form of
 * the name that was given: a user found by any other name would have several failure streaks.
 */
export class UserNames {
  private readonly logger = new Logger('AuthUsers');
  private readonly logged = new Set<string>();

  constructor(
    private readonly entityName: string,
    private readonly matching: NameMatching,
    private readonly key: NameKey,
  ) {}

  /** What `rowOf` reads of a user `u`, besides `id`, `username` and `account`. */
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
    const found = rows.filter((row) => String(row['name_key']) === key);
    const isStale = (row: Row): boolean => this.keyOf(String(row['username'])) !== key;
    const same = found.filter((row) => !isStale(row));
    const stale = found.find((row) => isStale(row) && row['account'] !== 'deleted');
    if (stale) this.warnAboutStaleKey(stale);
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
    this.warnOnce(
      'twins',
      `Several rows of ${this.entityName} have the same ${this.key.property}, so none of them can log in by name. ` +
        'Rename all but one, and add a unique index.',
    );
  }

  /** The application has changed the name without its key: neither the old name nor the new one is found. */
  private warnAboutStaleKey({ id }: Row): void {
    const { entityName, key } = this;
    this.warnOnce(
      'stale',
      `The row of ${entityName} with the id ${loggable(String(id))} has another name than its ${key.property} says, so ` +
        `that nobody can log in with either. Write ${key.property} as ${key.written} wherever names change, also by ` +
        'update(), upsert() and query builders, which run no entity listener. Logged once.',
    );
  }

  private warnOnce(kind: string, text: string): void {
    if (this.logged.has(kind)) return;
    this.logged.add(kind);
    this.logger.warn(text);
  }
}
