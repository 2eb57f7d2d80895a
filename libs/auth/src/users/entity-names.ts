import type { UserEntityMapping } from '../adapters/user-store';
import { loggable } from '../base/failures';
import { foldName, type NameMatching } from '../base/fields';
import { sha256 } from '../base/random';
import { type Dialect, isSameText } from '../database/dialect';
import { AuthUser } from '../database/entities';
import type { Row } from '../database/transaction';
import type { NamedUser } from './users';

export const OWN_USERS: UserEntityMapping = {
  entity: AuthUser,
  username: 'username',
  passwordHash: 'passwordHash',
  active: 'active',
};

/** A property that contains a name, and the property that contains the result of `keyOf` for this name. */
export interface NameProperty {
  readonly name: string;
  readonly key: string;
}

/** The names of the users in an entity. All of them share one namespace. */
export class EntityNames {
  /** The properties of the names, in their order. The first one is the username. */
  readonly properties: readonly NameProperty[];

  /** @param areOwn whether the users are those of `AuthUser`, whose keys are digests */
  constructor(
    private readonly mapping: UserEntityMapping,
    private readonly matching: NameMatching,
    private readonly areOwn: boolean,
    private readonly warnOnce: (kind: string, text: string) => void,
  ) {
    const names = [mapping.username].flat();
    const keys = areOwn ? ['usernameKey'] : [mapping.foldedUsername ?? names].flat();
    this.properties = names.map((name, i) => ({ name, key: keys[i]! }));
  }

  keyOf(name: string): string {
    const folded = foldName(name, this.matching);
    return this.areOwn ? sha256(folded) : folded;
  }

  /** The names and keys of a row `u`, as `rowOf` reads them. */
  get columns(): string {
    return this.properties
      .map(({ name, key }, i) => `u.{user.${name}} AS name_${i}, u.{user.${key}} AS key_${i}`)
      .join();
  }

  /**
   * Returns the clause that finds the rows `u` that have the key `:name`. Deleted users come last, and before them the
   * users of later properties.
   */
  search(dialect: Dialect, status: string): string {
    // The first comparison can use the index and follows the collation of the column. The second one compares bytes, so
    // that names that only the collation treats as equal do not count toward the limit.
    const isSame = (property: string, parameter: string): string => {
      const column = `u.{user.${property}}`;
      return `(${column} = ${parameter} AND ${isSameText(dialect, column, parameter)})`;
    };
    const conditions = this.properties.map(({ key }) => isSame(key, ':name'));
    const { realm } = this.mapping;
    const names = conditions.join(' OR ');
    const where = realm === undefined ? names : `${isSame(realm, ':realm')} AND (${names})`;
    const last = conditions.length - 1;
    const earlier = conditions.slice(0, -1).map((condition, i) => `WHEN ${condition} THEN ${i}`);
    const order = `CASE WHEN ${status} = 'deleted' THEN ${last + 1} ${earlier.join(' ')} ELSE ${last} END`;
    return `WHERE ${where} ORDER BY ${order} LIMIT 10`;
  }

  /** Returns the names of a row other than the username. */
  furtherOf(row: Row): readonly string[] {
    const names = this.properties.map((_, i) => row[`name_${i}`]).slice(1);
    return names.filter((name) => name !== null).map(String);
  }

  /** Returns the names of a new user. Those other than the username are among the user's properties. */
  ofNew({ username, properties = {} }: NamedUser): readonly (readonly [NameProperty, unknown])[] {
    const [first, ...others] = this.properties;
    const given = others.map((property) => [property, properties[property.name] ?? null] as const);
    return [[first!, username], ...given.filter(([, name]) => name !== null)];
  }

  /** Returns the values of the columns with the names of a new user, which are valid, and with their keys. */
  valuesOfNew(user: NamedUser): Readonly<Record<string, string>> {
    const values = this.ofNew(user).flatMap(([{ name, key }, value]) => [
      [name, String(value)],
      [key, this.keyOf(String(value))],
    ]);
    return Object.fromEntries(values) as Record<string, string>;
  }

  /**
   * Returns the row of the user with this name. An earlier property takes precedence over a later one. Returns null if
   * no user has the name, or several who are not deleted have it in the same property.
   */
  rowOf(name: string, rows: readonly Row[]): Row | null {
    const key = this.keyOf(name);
    const live = rows.filter((row) => row['account'] !== 'deleted');
    const stale = live.find((row) => !this.has(row, key));
    if (stale) this.warnAboutStaleKey(stale);
    for (const [i, property] of this.properties.entries()) {
      const [row, ...others] = live.filter((one) => this.hasAt(i, one, key));
      if (others.length > 0) {
        this.warnOnce(
          'duplicates',
          `Several rows of ${this.mapping.entity.name} have the same ${property.key}, so their users cannot log in by ` +
            'name. Rename all but one, and add a unique index.',
        );
        return null;
      }
      if (row) return row;
    }
    return rows.find((row) => this.has(row, key)) ?? null;
  }

  /** Returns whether any of the rows has the name, although `rowOf` may find no user. */
  isTaken(name: string, rows: readonly Row[]): boolean {
    return rows.some((row) => this.has(row, this.keyOf(name)));
  }

  private has(row: Row, key: string): boolean {
    return this.properties.some((_, i) => this.hasAt(i, row, key));
  }

  /** Compares the name too, because the key in the database may be outdated. */
  private hasAt(i: number, row: Row, key: string): boolean {
    if (row[`name_${i}`] === null || String(row[`key_${i}`]) !== key) return false;
    return this.keyOf(String(row[`name_${i}`])) === key;
  }

  private warnAboutStaleKey({ id }: Row): void {
    const keys = this.properties.map(({ key }) => key).join(' or ');
    const folded = this.areOwn && this.matching === 'exact' ? 'the name' : 'foldName(name)';
    const value = this.areOwn ? `the SHA-256 digest of ${folded} in hexadecimal` : folded;
    this.warnOnce(
      'stale',
      `In the row of ${this.mapping.entity.name} with the id ${loggable(String(id))}, ${keys} does not match the ` +
        `name, so the user cannot log in by name. Set ${keys} to ${value} whenever a name changes, also by ` +
        'update(), upsert() and query builders, which can skip entity listeners. Logged once.',
    );
  }
}
