import type { MigrationInterface } from 'typeorm';
import { CreateAuthSessions1760000000000 } from './1760000000000-create-auth-sessions';
import { CreateAuthUsers1760000000001 } from './1760000000001-create-auth-users';

type MigrationClass = new () => MigrationInterface;

/** The library's migrations for an application with its own users. */
export const AUTH_MIGRATIONS_WITHOUT_USERS: readonly MigrationClass[] = Object.freeze([
  CreateAuthSessions1760000000000,
]);

/** All migrations of the library, for the option `migrations` of your DataSource. */
export const AUTH_MIGRATIONS: readonly MigrationClass[] = Object.freeze([
  ...AUTH_MIGRATIONS_WITHOUT_USERS,
  CreateAuthUsers1760000000001,
]);
