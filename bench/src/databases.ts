import { DATABASES as TEST_DATABASES, type DatabaseName as TestDatabaseName } from '../../test/support/databases';

/** The databases on which the benchmark can run. */
const NAMES = ['sqlite', 'postgres', 'mariadb'] as const satisfies readonly TestDatabaseName[];

export type DatabaseName = (typeof NAMES)[number];

/** The databases that are available. */
export const DATABASES = NAMES.filter((name) => TEST_DATABASES.includes(name));
