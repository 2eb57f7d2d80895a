import { AuthEvent } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import type { DatabaseName } from '../databases';
import { SQL } from '../fill/sql';

/**
 * Returns the stored bytes of all rows of the library except events: the sizes of the rows on PostgreSQL, and the
 * lengths of the columns on other databases. The sum does not depend on the page layout, so it is reproducible.
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
