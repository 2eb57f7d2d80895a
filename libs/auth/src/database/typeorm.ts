import type { EntityMetadata } from 'typeorm';

/** A column of an entity, as TypeORM describes it. */
export type Column = EntityMetadata['columns'][number];

/**
 * The injection token of the DataSource that the library uses. The value is undefined if the application
 * has no DataSource with the configured name.
 */
export const AUTH_DATA_SOURCE = 'NESTJS_SESSION_AUTH_DATA_SOURCE';
