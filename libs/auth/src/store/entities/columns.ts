import type { ColumnOptions, EntityOptions, ValueTransformer } from 'typeorm';

/**
 * Stores instants as whole milliseconds since 1970-01-01T00:00:00Z, which do not depend on the time zone of
 * the process or database. Some drivers return 64-bit columns as text, and all instants fit in a
 * JavaScript number.
 */
const milliseconds: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: unknown) => (value === null || value === undefined ? null : Number(value)),
};

export const INSTANT = { type: 'bigint', transformer: milliseconds } as const satisfies ColumnOptions;

/** A SHA-256 digest, in hexadecimal. */
export const DIGEST = { type: 'varchar', length: 64 } as const satisfies ColumnOptions;

export const UUID = { type: 'varchar', length: 36 } as const satisfies ColumnOptions;

/**
 * The user's id as text. It has no foreign key, because the application chooses the table of users and the
 * type of their ids.
 */
export const USER_ID = { type: 'varchar', length: 255 } as const satisfies ColumnOptions;

/**
 * Gives a table a binary collation on MySQL and MariaDB, where user ids that differ only in case
 * would otherwise be equal. An entity cannot set a collation, but TypeORM appends the engine to
 * CREATE TABLE on these databases. By default, PostgreSQL and SQLite test equality byte by byte.
 */
export const COMPARED_BY_BYTES: EntityOptions = { engine: 'InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin' };
