import type { ColumnOptions, EntityOptions, ValueTransformer } from 'typeorm';

/**
 * Instants are stored as whole milliseconds since 1970 (UTC): exact, and the same whatever the time zone of the process
 * or the database is. Drivers give 64-bit columns back as text; these fit in a JavaScript number.
 */
const milliseconds: ValueTransformer = {
  to: (value: unknown) => value,
  from: (value: unknown) => (value === null || value === undefined ? null : Number(value)),
};

export const INSTANT = { type: 'bigint', transformer: milliseconds } as const satisfies ColumnOptions;

/** The SHA-256 digest of a token, in hexadecimal. */
export const DIGEST = { type: 'varchar', length: 64 } as const satisfies ColumnOptions;

export const UUID = { type: 'varchar', length: 36 } as const satisfies ColumnOptions;

/** The application's user id as text; no foreign key, because the application's table and id type are its own. */
export const USER_ID = { type: 'varchar', length: 255 } as const satisfies ColumnOptions;

/**
 * TypeORM writes the engine of a table for MySQL and MariaDB alone, which makes it the one place where an entity can ask
 * for their binary collation (PostgreSQL and SQLite compare by bytes as they are): no two digests are ever taken for one
 * another because they differ in case only.
 */
export const COMPARED_BY_BYTES: EntityOptions = { engine: 'InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin' };
