import type { DatabaseName } from '../databases';
import type { ContenderName } from '../contenders/contender';
import type { BoundedOperation } from '../parts/bounded';

export const DATABASE_NAMES: Record<DatabaseName, string> = {
  postgres: 'PostgreSQL',
  mariadb: 'MariaDB',
  sqlite: 'SQLite',
};

export const CONTENDER_NAMES: Record<ContenderName, string> = {
  none: 'no guard',
  ours: 'this library',
  batching: 'bare batching guard',
  prepared: 'one prepared query',
  jwt: '@nestjs/jwt',
  typeorm: 'TypeORM by hand',
  'better-auth': 'better-auth',
  'express-session': 'express-session',
};

export const OPERATION_NAMES: Record<BoundedOperation, string> = {
  passwordChange: 'password change',
  logoutAll: 'logout/all',
  reset: 'password reset',
  disabling: 'disabling the user',
  reuse: 'reuse',
  login: 'login',
  refresh: 'refresh',
  listing: 'listing',
};

/** The order of the databases in the report. PostgreSQL is first, because most targets are for PostgreSQL. */
export const DATABASE_ORDER = Object.keys(DATABASE_NAMES) as DatabaseName[];
