import type { MigrationInterface } from 'typeorm';
import { CreateAuthSessions1760000000000 } from './1760000000000-create-auth-sessions';
import { CreateAuthUsers1760000000001 } from './1760000000001-create-auth-users';

type MigrationClass = new () => MigrationInterface;

/** The migrations of an application that has a table of users of its own. */
export const AUTH_MIGRATIONS_WITHOUT_USERS: readonly MigrationClass[] = Object.freeze([
  CreateAuthSessions1760000000000,
]);

/** Every migration of the library, for the `migrations` of the application's DataSource. */
export const AUTH_MIGRATIONS: readonly MigrationClass[] = Object.freeze([
  ...AUTH_MIGRATIONS_WITHOUT_USERS,
  CreateAuthUsers1760000000001,
]);
