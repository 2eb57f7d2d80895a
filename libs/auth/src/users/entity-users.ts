import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import type { NewUser, RequestUser, StoredUser, UserEntityMapping, UserId } from '../adapters/user-store';
import type { Clock } from '../base/clock';
import { invalidField } from '../base/errors';
import type { NameMatching } from '../base/fields';
import { type Random, sha256 } from '../base/random';
import type { AutocommitOptions, Database } from '../database/database';
import { AuthSession, AuthUser, AuthUserLock } from '../database/entities';
import { CommitError, isDuplicate, isUnrepresentable } from '../database/failure';
import type { JoinedTransaction } from '../database/joined-transaction';
import { Statement } from '../database/statements';
import { affectedBy, type Row, type Step } from '../database/transaction';
import type { Column } from '../database/typeorm';
import { UserIds, withExactId } from './user-ids';
import { type NameKey, UserNames } from './user-names';
import { type AccountSql, findSeparately, type FoundCredentials, Users, type UserSql, type UserSteps } from './users';
import type { UserLock } from './user-lock';

/** Creates rows of `AuthUser`. The library generates the id, and computes the key from the name. */
interface OwnUsers {
  newRow(user: NewUser, nameKey: string): object;
  readonly nameKey: NameKey;
}

/** The mapping of the library's own entity. */
export const OWN_USERS: UserEntityMapping = {
  entity: AuthUser,
  username: 'username',
  passwordHash: 'passwordHash',
  active: 'active',
};

/** Returns how the library stores its own users. */
export function ownUsers(matching: NameMatching, clock: Clock, random: Random): OwnUsers {
  const digested = matching === 'exact' ? 'the name' : 'foldName(name)';
  return {
    nameKey: {
      property: 'usernameKey',
      of: sha256,
      written: `the SHA-256 digest of ${digested} in hexadecimal`,
    },
    newRow: ({ username, passwordHash, properties = {} }, usernameKey) => {
      const [first] = Object.keys(properties);
      if (first !== undefined) {
        throw new Error(
          `createUser() received the property '${first}', but AuthUser accepts no properties. Map your own entity: ` +
            "users: { entity: User, username: 'email', passwordHash: 'password' }",
        );
      }
      return { id: random.uuid(), username, passwordHash, usernameKey, active: true, createdAt: clock.now() };
    },
  };
}

const NO_ROWS_IF_UNREPRESENTABLE: AutocommitOptions = { meansNoRows: isUnrepresentable };

/** The table of a mapped entity: its columns, and how it stores whether a user is disabled. */
export class UserTable {
  readonly metadata: EntityMetadata;
  readonly idColumn: Column;
  readonly hashColumn: Column;
  /** The property that is written when a user is disabled or enabled, or null if the mapping has none. */
  readonly statusProperty: string | null;

  constructor(
    readonly dataSource: DataSource,
    readonly mapping: UserEntityMapping,
    private readonly clock: Clock,
  ) {
    this.metadata = dataSource.getMetadata(mapping.entity);
    this.idColumn = this.metadata.primaryColumns[0]!;
    this.hashColumn = this.metadata.findColumnWithPropertyPath(mapping.passwordHash)!;
    this.statusProperty = mapping.active ?? mapping.disabledAt ?? null;
  }

  /**
   * Returns the row of a new user. A property path such as `profile.phone` sets a property of an
   * embedded entity.
   * @throws Error if one of `properties` is not a column of the entity, or is mapped by the option `users`
   */
  newRow({ username, passwordHash, properties = {} }: NewUser, nameKey: string): object {
    const { mapping } = this;
    for (const name of Object.keys(properties)) this.assertSettable(name);
    const values = {
      ...properties,
      [mapping.username]: username,
      ...(mapping.foldedUsername ? { [mapping.foldedUsername]: nameKey } : {}),
      [mapping.passwordHash]: passwordHash,
      ...(mapping.active ? { [mapping.active]: true } : {}),
    };
    const row = {};
    for (const [property, value] of Object.entries(values)) {
      this.metadata.findColumnWithPropertyPath(property)!.setEntityValue(row, value);
    }
    return row;
  }

  /** Returns an expression for the status of the account in the row `u`. */
  statusSql(): string {
    const { active, disabledAt } = this.mapping;
    const deletedAt = this.metadata.deleteDateColumn?.propertyPath;
    const conditions = [
      ...(deletedAt ? [`WHEN u.{user.${deletedAt}} IS NOT NULL THEN 'deleted'`] : []),
      ...(active ? [`WHEN u.{user.${active}} THEN 'active' ELSE 'disabled'`] : []),
      ...(disabledAt ? [`WHEN u.{user.${disabledAt}} IS NOT NULL THEN 'disabled'`] : []),
    ];
    if (conditions.length === 0) return `'active'`;
    return `CASE ${conditions.join(' ')}${active ? '' : ` ELSE 'active'`} END`;
  }

  /** Returns the value of the status property in the form that the driver expects. */
  statusValue(active: boolean): unknown {
    const { disabledAt } = this.mapping;
    if (!disabledAt) return active;
    const column = this.metadata.findColumnWithPropertyPath(disabledAt)!;
    return active ? null : this.dataSource.driver.preparePersistentValue(new Date(this.clock.now()), column);
  }

  private assertSettable(property: string): void {
    const { entity, ...mapped } = this.mapping;
    const isMapped = (name: string): boolean => Object.values(mapped).includes(name);
    const stored = this.metadata.columns.filter((column) => !column.isVirtualProperty);
    if (!isMapped(property) && stored.some(({ propertyPath }) => propertyPath === property)) return;
    const reason = isMapped(property) ? 'which the option users maps' : `which is not a column of ${entity.name}`;
    const free = stored.map(({ propertyPath }) => propertyPath).filter((name) => !isMapped(name));
    throw new Error(`createUser was given the property '${property}', ${reason}; use one of ${free.join(', ')}`);
  }
}

/** Users in a TypeORM entity of the same DataSource: the application's own entity, or the library's `AuthUser`. */
export class EntityUsers extends Users {
  readonly sql: AccountSql;
  readonly canSetPasswords = true;
  readonly canSetActive: boolean;
  readonly canCreate = true;
  /** Whether the ids are random UUIDs that the library generates. */
  readonly hasUniqueIds: boolean;
  readonly steps: UserSteps = {
    setActive: (id, active) => this.setActiveStep(id, active),
    setHash: (id, hash, expected) => this.setHashStep(id, hash, expected),
  };
  private readonly mapping: UserEntityMapping;
  private readonly ids: UserIds;
  private readonly names: UserNames;
  private readonly byName: Statement;
  private readonly byId: Statement;
  private readonly updateHash: Statement;
  private readonly updateStatus: Statement | null;

  constructor(
    private readonly table: UserTable,
    private readonly database: Database,
    matching: NameMatching,
    private readonly lock: UserLock,
    private readonly own: OwnUsers | null = null,
  ) {
    super();
    const { dataSource, mapping } = table;
    this.mapping = mapping;
    this.hasUniqueIds = own !== null;
    this.canSetActive = table.statusProperty !== null;
    this.ids = new UserIds(table.idColumn, dataSource, database.dialect);
    const property = mapping.foldedUsername ?? mapping.username;
    const mappedKey: NameKey = { property, of: (name) => name, written: 'foldName(name)' };
    this.names = new UserNames(mapping.entity.name, matching, own?.nameKey ?? mappedKey);
    const statement = (template: string): Statement =>
      new Statement(dataSource, { user: mapping.entity, lock: AuthUserLock }, template);
    const columns = `u.{user.${this.ids.property}} AS id, u.{user.${mapping.username}} AS username,
      u.{user.${mapping.passwordHash}} AS password_hash, ${table.statusSql()} AS account`;
    const key = `CAST(u.{user.${this.ids.property}} AS ${database.dialect === 'mysql' ? 'CHAR' : 'text'})`;
    this.byName = statement(
      `SELECT ${columns}, ${this.names.column}, ${key} AS user_key,
         (SELECT {lock.credentialsVersion} FROM {lock} WHERE {lock.userId} = ${key}) AS version
       FROM {user} u WHERE ${this.names.conditionFor(database.dialect, table.statusSql())}`,
    );
    this.byId = statement(`SELECT ${columns} FROM {user} u WHERE u.{user.${this.ids.property}} = :id`);
    const update = (updated: string): string =>
      `UPDATE {user} SET {user.${updated}} = :value WHERE {user.${this.ids.property}} = :id`;
    this.updateHash = statement(
      `${update(mapping.passwordHash)} AND (:anyHash = 1 OR {user.${mapping.passwordHash}} = :expected)`,
    );
    this.updateStatus = table.statusProperty === null ? null : statement(update(table.statusProperty));
    this.sql = this.accountSql();
  }

  parseId(text: string): UserId {
    return this.ids.parse(text);
  }

  /**
   * Returns the id of a new user if the name, or its folded form, is the primary key. Otherwise returns null.
   * @throws AuthError `invalid_field` if the library's tables would confuse the id with another id
   */
  naturalIdOf({ username }: NewUser): string | null {
    const { foldedUsername, username: unfolded } = this.mapping;
    const { property } = this.ids;
    if (property !== foldedUsername && property !== unfolded) return null;
    const id = property === foldedUsername ? this.names.keyOf(username) : username;
    if (!this.ids.isDistinct(id)) throw invalidField('username', 'This username ends with a space.');
    return id;
  }

  async findByName(username: string, tx: JoinedTransaction | null): Promise<StoredUser | null> {
    const row = await this.rowOf(username, tx);
    return row && this.userFromRow(row);
  }

  /**
   * Reads the user and the version of the credentials in one statement, unless the id of the user has a different text
   * form in the database than in sessions.
   */
  async findCredentials(username: string, tx: JoinedTransaction | null): Promise<FoundCredentials> {
    const row = await this.rowOf(username, tx);
    const user = row && this.userFromRow(row);
    if (!row || !user) return { user: null, version: 0 };
    if (row['user_key'] === String(user.id)) return { user, version: Number(row['version'] ?? 0) };
    return findSeparately(
      () => this.findByName(username, tx),
      (userId) => this.lock.versionOf(userId, tx),
    );
  }

  async findById(id: UserId, tx: JoinedTransaction | null): Promise<StoredUser | null> {
    const idValue = this.ids.parameterOf(id);
    if (idValue === null) return null;
    const [row] = (await this.database.run(tx, this.byId.with({ id: idValue }))).rows;
    return withExactId(row ? this.userFromRow(row) : null, id);
  }

  async load(id: UserId): Promise<unknown> {
    const idValue = this.ids.parameterOf(id);
    if (idValue === null) return null;
    const user = await this.database.withManager(null, (manager) =>
      manager.findOne(this.mapping.entity, { where: { [this.ids.property]: idValue } }),
    );
    // Removes the hash, because a handler may return the user. TypeORM does not save a property that is undefined.
    if (user) this.table.hashColumn.setEntityValue(user, undefined);
    return user;
  }

  setHash(
    id: UserId,
    passwordHash: string,
    expectedHash: string | undefined,
    tx: JoinedTransaction | null,
  ): Promise<boolean> {
    return this.database.transaction(tx, () => this.setHashStep(id, passwordHash, expectedHash));
  }

  setActive(id: UserId, active: boolean, tx: JoinedTransaction | null): Promise<boolean> {
    return this.database.transaction(tx, () => this.setActiveStep(id, active));
  }

  async create(user: NewUser, tx: JoinedTransaction | null): Promise<StoredUser | null> {
    // This lookup fails for a name that the column cannot represent. MySQL might otherwise store question marks.
    if (await this.rowOf(user.username, tx, {})) return null;
    const nameKey = this.names.keyOf(user.username);
    const row = (this.own ?? this.table).newRow(user, nameKey);
    const insert = (manager: EntityManager): Promise<boolean> => insertUnlessTaken(manager, this.mapping.entity, row);
    return (await this.database.withManager(tx, insert)) ? this.findByName(user.username, tx) : null;
  }

  private *setHashStep(id: UserId, value: string, expected?: string): Step<boolean> {
    const idValue = this.ids.parameterOf(id);
    if (idValue === null) return false;
    const anyHash = expected === undefined ? 1 : 0;
    const query = this.updateHash.with({ id: idValue, value, anyHash, expected: expected ?? '' });
    return (yield* affectedBy(query)) === 1;
  }

  /** MySQL drivers also count a row that already had the value. */
  private *setActiveStep(id: UserId, active: boolean): Step<boolean> {
    const idValue = this.ids.parameterOf(id);
    if (!this.updateStatus || idValue === null) return false;
    return (yield* affectedBy(this.updateStatus.with({ id: idValue, value: this.table.statusValue(active) }))) === 1;
  }

  /** Returns the SQL that reads the account of a session's user in the statement that looks up the session. */
  private accountSql(): AccountSql {
    const entities = { user: this.mapping.entity, session: AuthSession };
    const condition = this.ids.ofSession();
    const account = `SELECT ${this.table.statusSql()} FROM {user} u WHERE ${condition}`;
    const compile = (part: string): string => new Statement(this.table.dataSource, entities, part).with({}).sql;
    const parseId = (text: string): UserId => this.parseId(text);
    return {
      status: compile(`COALESCE((${account}), 'deleted')`),
      user: selectedUserSql({ table: this.table, compile, condition, parseId }),
    };
  }

  /**
   * Returns the row of the user with this name, or null. By default, also returns null for a name
   * that the column's character set cannot represent, which makes the statement fail. A condition
   * that prevents the failure would need the collation of the column, or could not use the index.
   */
  private async rowOf(
    username: string,
    tx: JoinedTransaction | null,
    options = NO_ROWS_IF_UNREPRESENTABLE,
  ): Promise<Row | null> {
    const { rows } = await this.database.run(tx, this.byName.with({ name: this.names.keyOf(username) }), options);
    return this.names.rowOf(username, rows);
  }

  /** Returns the user of a row, or null if the library's tables would confuse the user's id with another id. */
  private userFromRow(row: Row): StoredUser | null {
    const id = String(row['id']);
    if (!this.ids.isDistinct(id)) return null;
    return {
      id: this.parseId(id),
      username: String(row['username']),
      passwordHash: (row['password_hash'] ?? null) as string | null,
      active: row['account'] === 'active',
    };
  }
}

/** Inserts a row. Returns false if a row with the same key already exists. */
async function insertUnlessTaken(manager: EntityManager, entity: new () => object, row: object): Promise<boolean> {
  let isInserted = false;
  const insert = async (inner: EntityManager): Promise<void> => {
    await inner.insert(entity, row);
    isInserted = true;
  };
  try {
    // The transaction distinguishes a lost COMMIT from a lost INSERT, which can be repeated. In the application's
    // transaction, it is a savepoint. Otherwise, SQLite has none, because it would include the other statements on the
    // only connection.
    await (manager.queryRunner ? manager.transaction(insert) : insert(manager));
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw isInserted ? new CommitError(error) : error;
  }
}

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
function selectedUserSql({ table, compile, condition, parseId }: SessionUserSql): UserSql {
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
