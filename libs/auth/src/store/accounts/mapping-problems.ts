import type { DataSource, EntityMetadata } from 'typeorm';
import type { UserEntityMapping } from '../../domain/ports/accounts';
import { dialectOf, type Dialect } from '../database/dialect';
import type { Column } from './user-table';

/** What a column must hold, with the hint that completes "write ...". */
interface Kind {
  readonly write: (property: string) => string;
  readonly accepts: (column: Column, type: string, dialect: Dialect | undefined) => boolean;
}

/** The characters of every bcrypt hash. */
const BCRYPT_LENGTH = 60;

const OTHERWISE = 'for anything else pass a class that extends UserStore';

const BOOLEAN: Kind = {
  write: (property) =>
    `the name of a boolean column; for a date that is null while the user is active, ` +
    `write disabledAt: '${property}'; ${OTHERWISE}`,
  accepts: (column, type) => {
    if (['boolean', 'bool', 'Boolean'].includes(nameOf(column.type))) return true;
    // MySQL has no boolean: other types of numbers there may hold more than two values.
    const { width } = column as { readonly width?: number };
    return type === 'tinyint' && (Number(width) === 1 || declaredType(column) === Boolean);
  },
};

const UNIQUE_TEXT: Kind = {
  write: () =>
    `the name of a column that the library fills with the folded name: of type varchar or text, with a unique index ` +
    `or constraint on it alone, such as @Column({ type: 'varchar', unique: true })`,
  accepts: (column, type) =>
    // A fixed length changes spaces at the end. The database's own lower case is not that of `foldName`.
    /^(varchar|n(ational )?varchar|character varying|.*text)$/.test(type) &&
    column.isInsert &&
    !column.generatedType &&
    isUnique(column),
};

const NAME: Kind = {
  write: () =>
    'the name of a column of type varchar or text: PostgreSQL returns char(n) filled with spaces, so nobody would be found',
  accepts: (_, type, dialect) => !isPadded(type, dialect),
};

const HASH: Kind = {
  write: () =>
    'the name of a column of type varchar or text: PostgreSQL returns char(n) filled with spaces, so no password would ' +
    'match (char(60) is accepted, for bcrypt hashes)',
  accepts: ({ length }, type, dialect) => !isPadded(type, dialect) || Number(length) === BCRYPT_LENGTH,
};

const NULLABLE_DATE: Kind = {
  write: () => `the name of a nullable date column that is null while the user is active; ${OTHERWISE}`,
  accepts: (column, type) => column.isNullable && /^(date|datetime|timestamp.*)$/.test(type),
};

/** Returns what the mapping of the users names but the entity does not have, or has otherwise. */
export function mappingProblems(dataSource: DataSource, mapping: UserEntityMapping): readonly string[] {
  const { name } = mapping.entity;
  if (!dataSource.hasMetadata(mapping.entity)) {
    return [`users.entity is ${name}, which the DataSource does not have; add it to its entities`];
  }
  const metadata = dataSource.getMetadata(mapping.entity);
  if (metadata.primaryColumns.length !== 1) {
    const count = metadata.primaryColumns.length;
    return [`users.entity is ${name}, which has ${count} primary columns; write an entity with one; ${OTHERWISE}`];
  }
  // Statements read the table, which holds the rows of the parent entity as well.
  if (metadata.tableType !== 'regular') {
    return [`users.entity is ${name}, which has no table of its own; write an entity that has; ${OTHERWISE}`];
  }
  const problemOf = (option: Exclude<keyof UserEntityMapping, 'entity' | 'select'>, kind?: Kind): string[] => {
    const property = mapping[option];
    const problem = property === undefined ? null : columnProblem(dataSource, metadata, property, kind);
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

/** What a request holds is easily logged or returned, so the hash is never among it. */
function selectProblem(
  dataSource: DataSource,
  metadata: EntityMetadata,
  mapping: UserEntityMapping,
  property: string,
): string | null {
  if (property === mapping.passwordHash) return 'the password hash, which stays in the database; leave it out';
  if (['id', 'username'].includes(property.split('.')[0]!)) return 'which request.user holds anyway; leave it out';
  if (metadata.findRelationWithPropertyPath(property)) {
    return `a relation, and only columns are read; ${OTHERWISE}, whose findById returns what request.user holds`;
  }
  const column = metadata.findColumnWithPropertyPath(property);
  if (!column || column.isVirtualProperty) return notAColumn(metadata);
  const type = dataSource.driver.normalizeType(column);
  return dataSource.driver.spatialTypes.some((spatial) => spatial === type)
    ? `a column of type ${type}, which TypeORM reads by a function; ${OTHERWISE}`
    : null;
}

function notAColumn(metadata: EntityMetadata): string {
  const stored = metadata.columns.filter((one) => !one.isVirtualProperty).map((one) => one.propertyPath);
  return `which is not a column of ${metadata.name}; write one of ${stored.join(', ')}`;
}

function columnProblem(
  dataSource: DataSource,
  metadata: EntityMetadata,
  property: string,
  kind: Kind | undefined,
): string | null {
  const column = metadata.findColumnWithPropertyPath(property);
  if (!column || column.isVirtualProperty) return notAColumn(metadata);
  if (column.transformer) {
    return `which has a value transformer; write a column that is stored as it is; ${OTHERWISE}`;
  }
  if (column.isDeleteDate) return 'the @DeleteDateColumn; leave it out: a user for whom it is set counts as deleted';
  const type = dataSource.driver.normalizeType(column);
  if (!kind || (!column.isArray && kind.accepts(column, type, dialectOf(dataSource)))) return null;
  const nullable = column.isNullable ? 'nullable ' : '';
  return `a ${nullable}column of type ${type}${column.isArray ? '[]' : ''}; write ${kind.write(property)}`;
}

/** Whether values come back with spaces at their end. MySQL and MariaDB remove them, and SQLite adds none. */
function isPadded(type: string, dialect: Dialect | undefined): boolean {
  return dialect === 'postgres' && type === 'character';
}

/** Whether no two rows may have the same value. A condition of the index would exempt some rows. */
function isUnique(column: Column): boolean {
  const { primaryColumns, uniques, indices } = column.entityMetadata;
  const isAlone = (columns: readonly Column[]): boolean => columns.length === 1 && columns[0] === column;
  return (
    isAlone(primaryColumns) ||
    uniques.some(({ columns }) => isAlone(columns)) ||
    indices.some(({ columns, isUnique: unique, where }) => unique && !where && isAlone(columns))
  );
}

function nameOf(type: Column['type']): string {
  return typeof type === 'function' ? type.name : type;
}

/** The type that the property is declared with in its class, where there is one. */
function declaredType({ target, propertyName }: Column): unknown {
  if (typeof target !== 'function') return undefined;
  return Reflect.getMetadata('design:type', target.prototype as object, propertyName);
}
