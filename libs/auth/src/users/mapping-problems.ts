import type { DataSource, EntityMetadata } from 'typeorm';
import type { UserEntityMapping } from '../adapters/user-store';
import { dialectOf } from '../database/dialect';
import type { Row } from '../database/transaction';
import { type Column, tablePath } from '../database/typeorm';

interface Requirement {
  readonly accepts: (column: Column, type: string, isPadded: boolean, realm: Column | null) => boolean;
  /** Follows "use the name of" in the message. */
  readonly expected: string;
  /** Whether the column may be an array of PostgreSQL. Default: false. */
  readonly mayBeArray?: boolean;
}

const OTHERWISE = 'for anything else, use a class that extends UserStore';

const REQUIREMENTS: Readonly<Record<Exclude<keyof UserEntityMapping, 'entity' | 'select'>, Requirement>> = {
  username: {
    accepts: (_, __, isPadded) => !isPadded,
    expected: 'a column of type varchar or text, because PostgreSQL pads char(n) and shorter names would not match',
  },
  foldedUsername: {
    // A type of fixed length changes trailing spaces. A generated column cannot call the function `foldName`.
    accepts: (column, type, _, realm) =>
      /^(varchar|n(ational )?varchar|character varying|.*text)$/.test(type) &&
      column.isInsert &&
      !column.generatedType &&
      isUnique(column, realm),
    expected:
      'a varchar or text column that the library fills with the folded name, with a unique index ' +
      "or constraint on it alone, such as @Column({ type: 'varchar', unique: true }), with users.realm on both",
  },
  passwordHash: {
    accepts: ({ length }, _, isPadded) => !isPadded || Number(length) === 60,
    expected:
      'a column of type varchar or text, because PostgreSQL pads char(n) and shorter hashes would not match ' +
      '(char(60) is accepted for bcrypt hashes)',
  },
  active: {
    accepts: isBoolean,
    expected: `a boolean column; for a date that is null while the user is active, use disabledAt; ${OTHERWISE}`,
  },
  disabledAt: {
    accepts: ({ isNullable }, type) => isNullable && /^(date|datetime|timestamp.*)$/.test(type),
    expected: `a nullable date column that is null while the user is active; ${OTHERWISE}`,
  },
  roles: {
    accepts: (_, type) => /char|text|json|enum|set/.test(type),
    expected: `a column with one role, a list or JSON; ${OTHERWISE}`,
    mayBeArray: true,
  },
  realm: { accepts: isText, expected: `a column of type varchar or text; ${OTHERWISE}` },
};

/** The comparison of a text with a column of numbers would fail for all columns. */
const ONE_OF_SEVERAL_NAMES: Requirement = {
  accepts: isText,
  expected: 'a column of type varchar or text, which each of several usernames needs',
};

function isText(_: Column, type: string, isPadded: boolean): boolean {
  return !isPadded && /char|text/.test(type);
}

function isBoolean(column: Column, type: string): boolean {
  if (([Boolean, 'boolean', 'bool', 'Boolean'] as unknown[]).includes(column.type)) return true;
  // MySQL has no boolean type. A `tinyint` counts as a boolean if its width is 1 or its property is a boolean.
  const { target, propertyName, width } = column as Column & { readonly width?: number };
  const owner = typeof target === 'function' ? (target.prototype as object) : {};
  const isDeclared = Reflect.getMetadata('design:type', owner, propertyName) === Boolean;
  return type === 'tinyint' && (Number(width) === 1 || isDeclared);
}

/** Returns whether a unique index of the column with this condition, if any, covers all users who are not deleted. */
export function coversUsers({ entityMetadata: { deleteDateColumn: deletedAt } }: Column, where: unknown): boolean {
  return !where || wordsOf(where).join(' ').toLowerCase() === `${deletedAt?.databaseName} is null`.toLowerCase();
}

/** Returns whether an index of `UNIQUE_INDEXES` covers all users. Its key is the column, or a function of the column. */
export function isUniqueIndex(column: Column, { name, predicate }: Row, realm: Column | null): boolean {
  const keys = realm ? String(name).split(',') : [name];
  const others = realm ? keys.filter((key) => wordsOf(key).join() !== realm.databaseName) : keys;
  if (realm && keys.length - others.length !== 1) return false;
  const words = wordsOf(others.join());
  return words.length <= 2 && words.at(-1) === column.databaseName && coversUsers(column, predicate);
}

/** Returns the names and words of an SQL expression, without casts of PostgreSQL. */
function wordsOf(expression: unknown): readonly string[] {
  const text = String(expression).replace(/::[\w ]+/g, '');
  return text.match(/[\w$]+/g) ?? [];
}

/**
 * Returns whether the entity declares the column as unique, alone or, if realms are used, within each realm.
 * @param covers whether an index with this condition suffices. Default: only one without a condition, which covers all rows
 */
export function isUnique(
  column: Column,
  realm: Column | null,
  covers: typeof coversUsers = (_, where) => !where,
): boolean {
  const { primaryColumns, uniques, indices } = column.entityMetadata;
  const keys = realm ? [realm, column] : [column];
  const isAlone = (columns: readonly Column[]): boolean =>
    columns.length === keys.length && keys.every((key) => columns.includes(key));
  return (
    isAlone(primaryColumns) ||
    uniques.some(({ columns }) => isAlone(columns)) ||
    indices.some(({ columns, isUnique: unique, where }) => unique && covers(column, where) && isAlone(columns))
  );
}

/** Returns a warning with the index to declare and create for a column of names. */
export function missingIndex(dataSource: DataSource, column: Column, realm: Column | null): string {
  const { driver } = dataSource;
  const { entityMetadata: metadata, propertyPath: property } = column;
  const path = tablePath(dataSource, metadata);
  const columns = realm ? [realm, column] : [column];
  const name = driver.escape([metadata.tableName, ...columns.map(({ databaseName }) => databaseName)].join('_'));
  const keys = columns.map(({ databaseName }) => driver.escape(databaseName)).join(', ');
  const declaration = realm
    ? `@Index(['${realm.propertyPath}', '${property}'], { unique: true }) on ${metadata.name}`
    : `@Index({ unique: true }) on ${metadata.name}.${property}`;
  return (
    `users.username is '${property}', which has no unique index${realm ? ' together with users.realm' : ''}. Until it has ` +
    'one, createUser() creates no users, because two could get the same name. Declare ' +
    `${declaration}, and run: CREATE UNIQUE INDEX ${name} ON ${path} (${keys})`
  );
}

/** Returns the problems of a user mapping, or an empty list if the mapping fits its entity. */
export function mappingProblems(dataSource: DataSource, mapping: UserEntityMapping): readonly string[] {
  const { entity, roles, realm, username, foldedUsername = [], select = [] } = mapping;
  const problem = entityProblem(dataSource, entity);
  if (problem !== null) return [`users.entity is ${entity.name}, which ${problem}`];
  const metadata = dataSource.getMetadata(entity);
  const realmColumn = (realm !== undefined && metadata.findColumnWithPropertyPath(realm)) || null;
  const id = metadata.primaryColumns[0]!.propertyPath;
  const isNameId = [username, foldedUsername].flat().includes(id);
  const problems = [
    realm !== undefined && isNameId
      ? `users.realm is set, but the primary key is the name '${id}', which two realms may share; use another primary key`
      : null,
    roles === mapping.passwordHash ? `users.roles is '${roles}', the password hash; use another column` : null,
    ...Object.entries(REQUIREMENTS).flatMap(([option, requirement]) =>
      [mapping[option as keyof typeof REQUIREMENTS] ?? []].flat().map((property, _, { length }) => {
        const needed = option === 'username' && length > 1 ? ONE_OF_SEVERAL_NAMES : requirement;
        const found = columnProblem(dataSource, metadata, property, needed, realmColumn);
        return found && `users.${option} is '${property}', ${found}`;
      }),
    ),
    ...select.map((property) => {
      const found = selectProblem(dataSource, metadata, mapping, property);
      return found && `users.select names '${property}', ${found}`;
    }),
  ];
  return problems.filter((found) => found !== null);
}

function entityProblem(dataSource: DataSource, entity: UserEntityMapping['entity']): string | null {
  if (!dataSource.hasMetadata(entity)) {
    return 'is not an entity of the DataSource; add it to the entities of the DataSource';
  }
  const { primaryColumns, tableType } = dataSource.getMetadata(entity);
  if (primaryColumns.length !== 1) {
    return `has ${primaryColumns.length} primary columns; use an entity with one primary column; ${OTHERWISE}`;
  }
  // Statements read the whole table. The table of a `@ChildEntity` also contains the rows of other entities.
  return tableType === 'regular' ? null : `has no table of its own; use an entity with its own table; ${OTHERWISE}`;
}

/** Checks a property of `users.select`. The hash is refused, because `request.user` is easily logged or returned. */
function selectProblem(
  { driver }: DataSource,
  metadata: EntityMetadata,
  mapping: UserEntityMapping,
  property: string,
): string | null {
  const { passwordHash } = mapping;
  if ((property === 'roles' || property === 'realm') && mapping[property] !== undefined)
    return `which request.user has by users.${property}; leave it out`;
  if (property === passwordHash) return 'the password hash, which request.user never contains; leave it out';
  if (['id', 'username'].includes(property.split('.')[0]!)) {
    return 'but request.user always has an `id` and a `username` of its own; leave it out, and read yours by @CurrentUser()';
  }
  if (metadata.findRelationWithPropertyPath(property)) {
    return 'a relation, but only columns are read; select the property of its foreign key, or return it from findById of a UserStore';
  }
  const column = metadata.findColumnWithPropertyPath(property);
  if (!column || column.isVirtualProperty) return notAColumn(metadata);
  const type = driver.normalizeType(column);
  return driver.spatialTypes.some((spatial) => spatial === type)
    ? `a column of type ${type}, which TypeORM reads with an SQL function; leave it out, or extend UserStore`
    : null;
}

function notAColumn(metadata: EntityMetadata): string {
  return `which is not a column of ${metadata.name}; use one of ${storedProperties(metadata).join(', ')}`;
}

/** Returns the paths of the properties that have a column. */
export function storedProperties({ columns }: EntityMetadata): string[] {
  return columns.filter((column) => !column.isVirtualProperty).map((column) => column.propertyPath);
}

function columnProblem(
  dataSource: DataSource,
  metadata: EntityMetadata,
  property: string,
  { accepts, expected, mayBeArray = false }: Requirement,
  realm: Column | null,
): string | null {
  const column = metadata.findColumnWithPropertyPath(property);
  if (!column || column.isVirtualProperty) return notAColumn(metadata);
  if (column.transformer) return `which has a value transformer; use a column without one; ${OTHERWISE}`;
  if (column.isDeleteDate) {
    return 'the @DeleteDateColumn; leave it out, because a user with a deletion date is already refused';
  }
  const type = dataSource.driver.normalizeType(column);
  // By default, MySQL and MariaDB remove the padding, and SQLite adds none.
  const isPadded = dialectOf(dataSource) === 'postgres' && type === 'character';
  if ((mayBeArray || !column.isArray) && accepts(column, type, isPadded, realm)) return null;
  const nullable = column.isNullable ? 'nullable ' : '';
  return `a ${nullable}column of type ${type}${column.isArray ? '[]' : ''}; use the name of ${expected}`;
}
