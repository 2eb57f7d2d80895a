import { AuthEvent } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import type { DatabaseName } from '../../../test/support/databases';
import { SQL } from '../fill/sql';

/**
 * Adds up the stored bytes of every row of the library, the history aside: the size of the rows on PostgreSQL, the
 * length of the columns elsewhere. Independent of page layout, so equal runs give equal sums.
 */
export async function storedBytes(dataSource: DataSource, database: DatabaseName): Promise<number> {
  let total = 0;
  for (const { target, tableName, columns } of dataSource.entityMetadatas) {
    if (target === AuthEvent) continue;
    const rowBytes = SQL[database].rowBytes(columns.map(({ databaseName }) => dataSource.driver.escape(databaseName)));
    const [stored] = await dataSource.query<{ bytes: string | number | null }[]>(
      `SELECT SUM(${rowBytes}) AS bytes FROM ${tableName} t`,
    );
    total += Number(stored?.bytes ?? 0);
  }
  return total;
}
