import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import {
  type AccountStatus,
  isDistinctId,
  type NewUser,
  NO_ROLES,
  type RequestUser,
  type StoredUser,
  type UserEntityMapping,
  type UserId,
} from '../adapters/user-store';
import type { Clock } from '../base/clock';
import { invalidField, notSupported } from '../base/errors';
import { meaningOf } from '../base/failures';
import type { NameMatching } from '../base/fields';
import type { Random } from '../base/random';
import type { AutocommitOptions, Database } from '../database/database';
import { UNIQUE_INDEXES } from '../database/dialect';
import { AuthSession, AuthUserLock } from '../database/entities';
import { CommitError } from '../database/failure';
import type { JoinedTransaction } from '../database/joined-transaction';
import { Statement, type StatementFactory } from '../database/statements';
import { affectedBy, type Row, type Step } from '../database/transaction';
import { type Column, tablePath } from '../database/typeorm';
import { EntityNames, OWN_USERS } from './entity-names';
import { coversUsers, isUnique, isUniqueIndex, missingIndex, storedProperties } from './mapping-problems';
import { UserIds } from './user-ids';
import { type AccountSql, type NamedUser, rolesFrom, Users, type Versioned, withExactId } from './users';

/** Users in a TypeORM entity of the same DataSource: the application's own entity, or the library's `AuthUser`. */
export class EntityUsers extends Users {
  readonly sql: AccountSql;
  readonly canSetPasswords = true;
  readonly canSetActive: boolean;
  /** True for `AuthUser`, whose ids are random UUIDs. */
  readonly hasUniqueIds: boolean;
  private readonly metadata: EntityMetadata;
  private readonly idColumn: Column;
  private readonly names: EntityNames;
  private readonly ids: UserIds;
  /** The column of the users' realms, or null if realms are not used. */
  private readonly realm: Column | null;
  private readonly textType: string;
  /** An expression for the `AccountStatus` of the row `u`. */
  private readonly status: string;
  private readonly statements;
  private hasUniqueNames = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly mapping: UserEntityMapping,
    matching: NameMatching,
    database: Database,
    statements: StatementFactory,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    super(database, statements);
    const { entity, passwordHash, active, disabledAt, realm } = mapping;
    const { dialect } = database;
    this.hasUniqueIds = mapping === OWN_USERS;
    this.metadata = dataSource.getMetadata(entity);
    this.idColumn = this.metadata.primaryColumns[0]!;
    this.names = new EntityNames(mapping, matching, this.hasUniqueIds, this.warnOnce.bind(this));
    this.ids = new UserIds(this.idColumn, dataSource, dialect);
    this.realm = realm === undefined ? null : this.column(realm);
    this.textType = dialect === 'mysql' ? 'CHAR' : 'text';
    this.status = statusSql(mapping, this.metadata);
    const statement = (template: string): Statement =>
      new Statement(dataSource, { user: entity, lock: AuthUserLock }, template);
    const id = `{user.${this.idColumn.propertyPath}}`;
    const idText = `CAST(u.${id} AS ${this.textType})`;
    const columns = `u.${id} AS id, ${this.names.columns}, u.{user.${passwordHash}} AS password_hash,
      ${this.status} AS account${realm === undefined ? '' : `, u.{user.${realm}} AS realm`}`;
    const update = (property: string): string => `UPDATE {user} SET {user.${property}} = :value WHERE ${id} = :id`;
    const statusProperty = active ?? disabledAt;
    this.canSetActive = statusProperty !== undefined;
    this.sql = this.accountSql();
    this.statements = {
      byName: statement(
        `SELECT ${columns}, ${idText} AS id_text,
           (SELECT {lock.credentialsVersion} FROM {lock} WHERE {lock.userId} = ${idText}) AS version
         FROM {user} u ${this.names.search(dialect, this.status)}`,
      ),
      byId: statement(`SELECT ${columns} FROM {user} u WHERE u.${id} = :id`),
      accountById: statement(`SELECT u.${id} AS user_id, ${this.sql.columns} FROM {user} u WHERE u.${id} = :id`),
      updateHash: statement(`${update(passwordHash)} AND (:anyHash = 1 OR {user.${passwordHash}} = :expected)`),
      updateStatus: statusProperty === undefined ? null : statement(update(statusProperty)),
      uniqueIndexes: statement(UNIQUE_INDEXES[dialect](this.realm ? 2 : 1)),
    };
  }

  /** Returns a stored id as a number if the column is an integer other than bigint, otherwise as text. */
  parseId(text: string): UserId {
    const { type } = this.idColumn;
    const isNumber = type === Number || /^(int|integer|smallint|mediumint|tinyint|int2|int4)$/.test(String(type));
    // The entity may declare an integer although the column is larger.
    return isNumber && String(Number(text)) === text ? Number(text) : text;
  }

  override namesOf(user: NamedUser): readonly (readonly [string, unknown])[] {
    // A list, because a later property can be named `username` too.
    return this.names.ofNew(user).map(([{ name }, value], i) => [i === 0 ? 'username' : name, value]);
  }

  /** @throws AuthError `invalid_field` if the library's tables would confuse the id with another id */
  naturalIdOf(user: NamedUser): string | null {
    const id = this.names.valuesOfNew(user)[this.idColumn.propertyPath];
    if (id === undefined) return null;
    if (!this.isDistinct(id)) throw invalidField('username', 'This username ends with a space.');
    return id;
  }

  override async isNameTaken(name: string, realm: string | null, tx: JoinedTransaction | null): Promise<boolean> {
    // Fails for a name that the column cannot represent. MySQL might otherwise store question marks.
    return this.names.isTaken(name, await this.rowsOf(name, realm, tx, {}));
  }

  async findByName(username: string, realm: string | null, tx: JoinedTransaction | null): Promise<StoredUser | null> {
    return this.userFrom(await this.rowOf(username, realm, tx));
  }

  /** Takes one statement, unless the text of an id differs from that in sessions, of known and unknown names alike. */
  override async findCredentials(username: string, realm: string | null): Promise<Versioned<StoredUser | null>> {
    if (this.ids.isPadded) return super.findCredentials(username, realm);
    const row = await this.rowOf(username, realm, null);
    const user = this.userFrom(row);
    if (row && user && row['id_text'] !== String(user.id)) return super.findCredentials(username, realm);
    return { user, credentialsVersion: Number(row?.['version'] ?? 0) };
  }

  async findById(id: UserId, tx: JoinedTransaction | null): Promise<StoredUser | null> {
    const query = this.statements.byId.with({ id: this.ids.parameterOf(id) });
    const [row] = (await this.database.run(tx, query)).rows;
    return withExactId(this.userFrom(row), id);
  }

  /** Also reads the columns of `users.select`. */
  override async accountOf(userId: string): ReturnType<Users['accountOf']> {
    const query = this.statements.accountById.with({ id: this.ids.parameterOf(this.parseId(userId)) });
    const [row] = (await this.database.run(null, query)).rows;
    if (!row || String(row['user_id']) !== userId) return { status: 'deleted', user: null };
    return { status: row['account'] as AccountStatus, user: this.sql.fromRow(row) };
  }

  /** Without `users.roles`, the property `roles` of a user is a column of `users.select` with any value. */
  override rolesOf(user: RequestUser | null): readonly string[] {
    return this.mapping.roles === undefined ? NO_ROLES : super.rolesOf(user);
  }

  async load(id: UserId): Promise<unknown> {
    const parameter = this.ids.parameterOf(id);
    if (parameter === null) return null;
    const hash = this.column(this.mapping.passwordHash);
    // A handler may return the user, and a hook that runs after loading may copy the hash. So the hash is not read.
    const read = this.metadata.columns.filter((column) => column.isSelect && column !== hash);
    const user = await this.database.withManager(null, (manager) =>
      manager
        .createQueryBuilder(this.mapping.entity, 'u')
        .select(read.map(({ propertyPath }) => `u.${propertyPath}`))
        .setFindOptions({ where: { [this.idColumn.propertyPath]: parameter } })
        .getOne(),
    );
    // The class may have an initial value. TypeORM does not save a property that is undefined.
    if (user) hash.setEntityValue(user, undefined);
    return user;
  }

  setHash(id: UserId, passwordHash: string, expectedHash?: string): Promise<boolean> {
    return this.database.transaction(null, () => this.setHashStep(id, passwordHash, expectedHash));
  }

  setActive(id: UserId, active: boolean, tx: JoinedTransaction | null): Promise<boolean> {
    return this.database.transaction(tx, () => this.setActiveStep(id, active));
  }

  override *setHashStep(id: UserId, value: string, expected?: string): Step<boolean> {
    const anyHash = expected === undefined ? 1 : 0;
    const values = { id: this.ids.parameterOf(id), value, anyHash, expected: expected ?? '' };
    return (yield* affectedBy(this.statements.updateHash.with(values))) === 1;
  }

  override *setActiveStep(id: UserId, active: boolean): Step<boolean> {
    const values = { id: this.ids.parameterOf(id), value: this.statusValue(active) };
    return (yield* affectedBy(this.statements.updateStatus!.with(values))) === 1;
  }

  async create(user: NewUser, tx: JoinedTransaction | null): Promise<StoredUser | null> {
    if (!(await this.checkUniqueNames(tx)))
      throw notSupported('The column of the usernames has no unique index. The log names the index to create.');
    const realm = user.realm ?? null;
    for (const [, name] of this.namesOf(user)) if (await this.isNameTaken(String(name), realm, tx)) return null;
    const row = this.newRow(user);
    const isInserted = await this.database.withManager(tx, (manager) => this.insertUnlessTaken(manager, row, user));
    if (!isInserted) return null;
    const created = await this.findByName(user.username, realm, tx);
    if (created) return created;
    const problem =
      'createUser() cannot read the user that it inserted: an open transaction hides it from other connections';
    throw notSupported(`${problem} (call inTransaction(manager).createUser() instead), or its id is beyond 2^53.`);
  }

  async checkUniqueNames(tx: JoinedTransaction | null): Promise<boolean> {
    if (this.hasUniqueNames) return true;
    const unique: boolean[] = [];
    for (const { key } of this.names.properties) unique.push(await this.checkUnique(key, tx));
    return (this.hasUniqueNames = unique.every(Boolean));
  }

  private async checkUnique(property: string, tx: JoinedTransaction | null): Promise<boolean> {
    const { dataSource, metadata, realm } = this;
    const column = this.column(property);
    if (isUnique(column, realm, coversUsers)) return true;
    const schema = metadata.database ?? dataSource.driver.database ?? null;
    const table = { path: tablePath(dataSource, metadata), schema, table: metadata.tableName };
    const { rows } = await this.database.run(tx, this.statements.uniqueIndexes.with(table));
    if (rows.some((row) => isUniqueIndex(column, row, realm))) return true;
    this.warnOnce(`not unique: ${property}`, missingIndex(dataSource, column, realm));
    return false;
  }

  private column(property: string): Column {
    return this.metadata.findColumnWithPropertyPath(property)!;
  }

  private statusValue(active: boolean): unknown {
    const { disabledAt } = this.mapping;
    if (!disabledAt) return active;
    const now = new Date(this.clock.now());
    return active ? null : this.dataSource.driver.preparePersistentValue(now, this.column(disabledAt));
  }

  // A path such as `profile.phone` sets a property of an embedded entity.
  private newRow(user: NewUser): object {
    const { passwordHash, properties = {} } = user;
    for (const property of Object.keys(properties)) this.assertSettable(property);
    const { mapping } = this;
    const values: Record<string, unknown> = {
      ...properties,
      ...this.names.valuesOfNew(user),
      [mapping.passwordHash]: passwordHash,
      ...(mapping.realm === undefined ? {} : { [mapping.realm]: user.realm }),
      ...(mapping.active ? { [mapping.active]: true } : {}),
      ...(this.hasUniqueIds ? { id: this.random.uuid(), createdAt: this.clock.now() } : {}),
    };
    const row = {};
    for (const [property, value] of Object.entries(values)) this.column(property).setEntityValue(row, value);
    return row;
  }

  /** @throws Error if the property is not a column of the entity, or is mapped by the option `users` */
  private assertSettable(property: string): void {
    const { entity, passwordHash, active, disabledAt, realm } = this.mapping;
    const [username, ...others] = this.names.properties;
    const keys = others.filter(({ name, key }) => name !== key).map(({ key }) => key);
    const mapped: unknown[] = [username!.name, username!.key, ...keys, passwordHash, active, disabledAt, realm];
    const free = this.hasUniqueIds ? [] : storedProperties(this.metadata).filter((name) => !mapped.includes(name));
    if (free.includes(property)) return;
    const reason = mapped.includes(property) ? 'which the option users maps' : `not a column of ${entity.name}`;
    const choice = free.length > 0 ? `use one of ${free.join(', ')}` : 'map your own entity with the option users';
    throw new Error(`createUser() received the property '${property}', ${reason}; ${choice}`);
  }

  private accountSql(): AccountSql {
    const { mapping, status, idColumn, realm: realmColumn } = this;
    const entities = { user: mapping.entity, session: AuthSession };
    const compile = (part: string): string => new Statement(this.dataSource, entities, part).with({}).sql;
    const condition = this.ids.ofSession();
    const selected = (mapping.select ?? []).map((property) => this.column(property));
    const roles = mapping.roles === undefined ? null : this.column(mapping.roles);
    const others = [...selected, roles, realmColumn].flatMap((column) => column?.propertyPath ?? []);
    const properties = [this.names.properties[0]!.name, ...others];
    const realm = `CAST(u.{user.${mapping.realm}} AS ${this.textType})`;
    const selectList = properties.map((property, i) => `u.{user.${property}} AS user_${i}`).join(', ');
    const joined = `CASE WHEN u.{user.${idColumn.propertyPath}} IS NULL THEN 'deleted' ELSE ${status} END AS account`;
    return {
      status: compile(`COALESCE((SELECT ${status} FROM {user} u WHERE ${condition}), 'deleted')`),
      realm: realmColumn ? compile(`(SELECT ${realm} FROM {user} u WHERE ${condition})`) : null,
      columns: compile(`${joined}, ${selectList}`),
      join: compile(`LEFT JOIN {user} u ON ${condition}`),
      fromRow: (row) => {
        const user = { id: this.parseId(String(row['user_id'])), username: String(row['user_0']) };
        selected.forEach((column, i) => column.setEntityValue(user, this.hydrated(column, row[`user_${i + 1}`])));
        if (roles) Object.assign(user, { roles: rolesFrom(this.hydrated(roles, row[`user_${selected.length + 1}`])) });
        return realmColumn ? { ...user, realm: row[`user_${others.length}`] as string | null } : user;
      },
    };
  }

  /** Converts a value as TypeORM does. Requests that share a row receive separate copies, except of buffers. */
  private hydrated(column: Column, stored: unknown): unknown {
    const isShared = typeof stored === 'object' && stored !== null && !Buffer.isBuffer(stored);
    return this.dataSource.driver.prepareHydratedValue(isShared ? structuredClone(stored) : stored, column);
  }

  private async rowOf(username: string, realm: string | null, tx: JoinedTransaction | null): Promise<Row | null> {
    // A name that the column's character set cannot represent makes the statement fail, and is the name of no user.
    const meansNoRows = (error: unknown): boolean => meaningOf(error) === 'unrepresentable';
    return this.names.rowOf(username, await this.rowsOf(username, realm, tx, { meansNoRows }));
  }

  private async rowsOf(
    username: string,
    realm: string | null,
    tx: JoinedTransaction | null,
    options: AutocommitOptions,
  ): Promise<readonly Row[]> {
    const name = this.names.keyOf(username);
    // No user belongs to a call without a realm.
    if (this.realm && !realm) return [];
    return (await this.database.run(tx, this.statements.byName.with({ name, realm }), options)).rows;
  }

  /** Returns the user of a row, or null if the library's tables would confuse the user's id with another id. */
  private userFrom(row: Row | null | undefined): StoredUser | null {
    if (!row || !this.isDistinct(row['id'])) return null;
    return {
      id: this.parseId(String(row['id'])),
      username: String(row['name_0']),
      ...(this.names.properties.length > 1 ? { usernames: this.names.furtherOf(row) } : {}),
      passwordHash: (row['password_hash'] ?? null) as string | null,
      active: row['account'] === 'active',
      ...(this.realm ? { realm: row['realm'] as string | null } : {}),
    };
  }

  private isDistinct(id: unknown): boolean {
    // The driver of SQLite rounds integers beyond 2^53.
    if (typeof id === 'number' && !Number.isSafeInteger(id)) return false;
    return this.database.dialect !== 'mysql' || isDistinctId(String(id));
  }

  private async insertUnlessTaken(manager: EntityManager, row: object, user: NewUser): Promise<boolean> {
    let isInserted = false;
    const insert = async (inner: EntityManager): Promise<void> => {
      await this.insertUnchanged(inner, row, user);
      isInserted = true;
    };
    try {
      // The transaction distinguishes a lost COMMIT from a lost INSERT, which can be repeated. In the application's
      // transaction, it is a savepoint. Otherwise, SQLite has none: it would include all statements on the connection.
      await (manager.queryRunner ? manager.transaction(insert) : insert(manager));
      return true;
    } catch (error) {
      if (meaningOf(error) === 'duplicate') return false;
      throw isInserted ? new CommitError(error) : error;
    }
  }

  /** @throws AuthError `not_supported` if the stored name or hash differs, for example because it was hashed again */
  private async insertUnchanged(manager: EntityManager, row: object, user: NewUser): Promise<void> {
    const { entity, passwordHash } = this.mapping;
    await manager.insert(entity, row);
    const id: unknown = this.idColumn.getEntityValue(row);
    if (!this.isDistinct(id))
      throw notSupported(`createUser() inserted a user with the id ${String(id)}, beyond 2^53.`);
    const expected: Record<string, unknown> = { ...this.names.valuesOfNew(user), [passwordHash]: user.passwordHash };
    const columns = Object.keys(expected);
    const stored = await manager
      .createQueryBuilder()
      .select(columns.map((property, i) => `u.${property} AS value_${i}`))
      .from(entity, 'u')
      .where(`u.${this.idColumn.propertyPath} = :id`, { id })
      .getRawOne<Record<string, unknown>>();
    const property = columns.find((one, i) => (stored?.[`value_${i}`] ?? null) !== expected[one]);
    if (property === undefined) return;
    // SQLite has no transaction here that would undo the insertion.
    await manager.delete(entity, { [this.idColumn.propertyPath]: id });
    throw notSupported(
      `createUser() stored nothing, because an entity subscriber, a hook, a trigger or the connection's character set ` +
        `changed the property '${property}' of ${entity.name}. The library has hashed the password already.`,
    );
  }
}

/** Returns an expression for the `AccountStatus` of the row `u`. */
function statusSql({ active, disabledAt }: UserEntityMapping, { deleteDateColumn }: EntityMetadata): string {
  const deletedAt = deleteDateColumn?.propertyPath;
  const cases = [
    ...(deletedAt ? [`WHEN u.{user.${deletedAt}} IS NOT NULL THEN 'deleted'`] : []),
    ...(active ? [`WHEN u.{user.${active}} THEN 'active'`] : []),
    ...(disabledAt ? [`WHEN u.{user.${disabledAt}} IS NOT NULL THEN 'disabled'`] : []),
  ];
  const otherwise = active ? `'disabled'` : `'active'`;
  return cases.length === 0 ? otherwise : `CASE ${cases.join(' ')} ELSE ${otherwise} END`;
}
