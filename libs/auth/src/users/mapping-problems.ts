import type { DataSource, EntityMetadata } from 'typeorm';
import type { UserEntityMapping } from '../adapters/user-store';
import { type Dialect, dialectOf } from '../database/dialect';
import type { Column } from '../database/typeorm';

/** A requirement on a column, and the text that follows "use" in the message. */
interface ColumnRequirement {
  readonly expected: (property: string) => string;
  readonly accepts: (column: Column, type: string, dialect: Dialect | undefined) => boolean;
}

/** The length of a bcrypt hash. */
const BCRYPT_LENGTH = 60;

const OTHERWISE = 'for anything else, use a class that extends UserStore';

function nameOf(type: Column['type']): string {
  return typeof type === 'function' ? type.name : type;
}

/** Returns the type of the property in its class, if TypeScript has emitted one. */
function declaredType({ target, propertyName }: Column): unknown {
  if (typeof target !== 'function') return undefined;
  return Reflect.getMetadata('design:type', target.prototype as object, propertyName);
}

const BOOLEAN: ColumnRequirement = {
  expected: (property) =>
    `the name of a boolean column; for a date that is null while the user is active, ` +
    `use disabledAt: '${property}'; ${OTHERWISE}`,
  accepts: (column, type) => {
    if (['boolean', 'bool', 'Boolean'].includes(nameOf(column.type))) return true;
    // MySQL has no boolean type. A `tinyint` counts as a boolean if its width is 1 or its property is a boolean.
    const { width } = column as { readonly width?: number };
    return type === 'tinyint' && (Number(width) === 1 || declaredType(column) === Boolean);
  },
};

/** Returns whether the column alone is unique. A unique index with a condition does not cover all rows. */
function isUnique(column: Column): boolean {
  const { primaryColumns, uniques, indices } = column.entityMetadata;
  const isAlone = (columns: readonly Column[]): boolean => columns.length === 1 && columns[0] === column;
  return (
    isAlone(primaryColumns) ||
    uniques.some(({ columns }) => isAlone(columns)) ||
    indices.some(({ columns, isUnique: unique, where }) => unique && !where && isAlone(columns))
  );
}

const UNIQUE_TEXT: ColumnRequirement = {
  expected: () =>
    `the name of a varchar or text column that the library fills with the folded name, with a unique index ` +
    `or constraint on it alone, such as @Column({ type: 'varchar', unique: true })`,
  accepts: (column, type) =>
    // A type of fixed length changes trailing spaces. A generated column cannot call the
    // library's function `foldName`.
    /^(varchar|n(ational )?varchar|character varying|.*text)$/.test(type) &&
    column.isInsert &&
    !column.generatedType &&
    isUnique(column),
};

/**
 * Returns whether the database returns values of this type padded with spaces. By default, MySQL and MariaDB
 * remove the padding, and SQLite adds none.
 */
function isPadded(type: string, dialect: Dialect | undefined): boolean {
  return dialect === 'postgres' && type === 'character';
}

const NAME: ColumnRequirement = {
  expected: () =>
    'the name of a column of type varchar or text, because PostgreSQL pads char(n) and shorter names would not match',
  accepts: (_, type, dialect) => !isPadded(type, dialect),
};

const HASH: ColumnRequirement = {
  expected: () =>
    'the name of a column of type varchar or text, because PostgreSQL pads char(n) with spaces and shorter ' +
    'hashes would not match (char(60) is accepted for bcrypt hashes)',
  accepts: ({ length }, type, dialect) => !isPadded(type, dialect) || Number(length) === BCRYPT_LENGTH,
};

const NULLABLE_DATE: ColumnRequirement = {
  expected: () => `the name of a nullable date column that is null while the user is active; ${OTHERWISE}`,
  accepts: (column, type) => column.isNullable && /^(date|datetime|timestamp.*)$/.test(type),
};

/** Returns the problems of a user mapping, or an empty list if the mapping fits its entity. */
export function mappingProblems(dataSource: DataSource, mapping: UserEntityMapping): readonly string[] {
  const { name } = mapping.entity;
  if (!dataSource.hasMetadata(mapping.entity)) {
    return [
      `users.entity is ${name}, which is not an entity of the DataSource; add it to the entities of the DataSource`,
    ];
  }
  const metadata = dataSource.getMetadata(mapping.entity);
  if (metadata.primaryColumns.length !== 1) {
    const count = metadata.primaryColumns.length;
    return [
      `users.entity is ${name}, which has ${count} primary columns; ` +
        `use an entity with one primary column; ${OTHERWISE}`,
    ];
  }
  // Statements read the whole table. The table of a `@ChildEntity` also contains the rows of other entities.
  if (metadata.tableType !== 'regular') {
    return [`users.entity is ${name}, which has no table of its own; use an entity with its own table; ${OTHERWISE}`];
  }
  const problemOf = (
    option: Exclude<keyof UserEntityMapping, 'entity' | 'select'>,
    requirement?: ColumnRequirement,
  ): string[] => {
    const property = mapping[option];
    const problem = property === undefined ? null : columnProblem(dataSource, metadata, property, requirement);
    return problem === null ? [] : [`users.${option} is '${property}', ${problem}`];
  };
  return [
    ...problemOf('username', NAME),
    ...problemOf('foldedUsername', UNIQUE_TEXT),
    ...problemOf('passwordHash', HASH),
    ...problemOf('active', BOOLEAN),
    ...problemOf('disabledAt', NULLABLE_DATE),
    ...(mapping.select ?? []).flatMap((property) => {
      const problem = selectProblem(dataSource, metadata, mapping, property);
      return problem === null ? [] : [`users.select names '${property}', ${problem}`];
    }),
  ];
}

/**
 * Checks a property of `users.select`. The password hash is refused, because `request.user` is easily
 * logged or returned.
 */
function selectProblem(
  dataSource: DataSource,
  metadata: EntityMetadata,
  mapping: UserEntityMapping,
  property: string,
): string | null {
  if (property === mapping.passwordHash) return 'the password hash, which request.user never contains; leave it out';
  if (['id', 'username'].includes(property.split('.')[0]!)) return 'which request.user always contains; leave it out';
  if (metadata.findRelationWithPropertyPath(property)) {
    return 'a relation, but only columns are read; return it from findById of a class that extends UserStore';
  }
  const column = metadata.findColumnWithPropertyPath(property);
  if (!column || column.isVirtualProperty) return notAColumn(metadata);
  const type = dataSource.driver.normalizeType(column);
  return dataSource.driver.spatialTypes.some((spatial) => spatial === type)
    ? `a column of type ${type}, which TypeORM reads with an SQL function; leave it out, or extend UserStore`
    : null;
}

function notAColumn(metadata: EntityMetadata): string {
  const stored = metadata.columns.filter((column) => !column.isVirtualProperty).map((column) => column.propertyPath);
  return `which is not a column of ${metadata.name}; use one of ${stored.join(', ')}`;
}

function columnProblem(
  dataSource: DataSource,
  metadata: EntityMetadata,
  property: string,
  requirement: ColumnRequirement | undefined,
): string | null {
  const column = metadata.findColumnWithPropertyPath(property);
  if (!column || column.isVirtualProperty) return notAColumn(metadata);
  if (column.transformer) {
    return `which has a value transformer; use a column without one; ${OTHERWISE}`;
  }
  if (column.isDeleteDate)
    return 'the @DeleteDateColumn; leave it out, because a user with a deletion date is already refused';
  const type = dataSource.driver.normalizeType(column);
  if (!requirement || (!column.isArray && requirement.accepts(column, type, dialectOf(dataSource)))) return null;
  const nullable = column.isNullable ? 'nullable ' : '';
  return `a ${nullable}column of type ${type}${column.isArray ? '[]' : ''}; use ${requirement.expected(property)}`;
}
