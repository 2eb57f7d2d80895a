import type { DatabaseName } from '../../../test/support/databases';
import type { ContenderName } from '../contenders/contender';

export const DATABASE_NAMES: Record<DatabaseName, string> = {
  postgres: 'PostgreSQL',
  mariadb: 'MariaDB',
  sqlite: 'SQLite',
};

export const CONTENDER_NAMES: Record<ContenderName, string> = {
  none: 'no guard',
  ours: 'this library',
  prepared: 'one prepared query',
  jwt: '@nestjs/jwt',
  typeorm: 'TypeORM by hand',
  'better-auth': 'better-auth',
  'express-session': 'express-session',
};

/** PostgreSQL first: the aims are about it. */
export const DATABASE_ORDER = Object.keys(DATABASE_NAMES) as DatabaseName[];
