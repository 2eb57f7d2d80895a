import { DataSource, type DataSourceOptions, type Logger } from 'typeorm';
import { dataSourceOptions } from '../../apps/sample/src/app.module';
import { prepareDatabase } from '../../apps/sample/src/prepare-database';
import { readSettings } from '../../apps/sample/src/read-settings';
import { DATABASES, type TestDatabase } from '../support/databases';
import { urlOf } from '../support/sample';
import { databaseForTest } from '../support/start-for-test';

const ignore = (): void => undefined;

function optionsFor(database: TestDatabase, logQuery: (sql: string) => void = ignore): DataSourceOptions {
  const silent = { logQueryError: ignore, logQuerySlow: ignore, logSchemaBuild: ignore, logMigration: ignore };
  const logger: Logger = { ...silent, logQuery, log: ignore };
  return { ...dataSourceOptions(readSettings({ DATABASE_URL: urlOf(database) })), logger, logging: true };
}

describe.each(DATABASES)('instances of the sample application that start together on %s', (name) => {
  it('each migration runs once, without a session lock, because poolers and clusters do not support one', async () => {
    const database = await databaseForTest(name);
    const statements: string[] = [];
    const options = optionsFor(database, (sql) => void statements.push(sql));
    const started = await Promise.all([1, 2, 3, 4].map(() => prepareDatabase(options)));
    const again = await prepareDatabase(options);
    const rows: { name: string }[] = await again.query('SELECT name FROM migrations ORDER BY id');
    expect(rows.map((row) => row.name).sort()).toEqual(again.migrations.map((migration) => migration.name!).sort());
    expect(await again.query('SELECT * FROM auth_sessions')).toEqual([]);
    expect(statements.filter((sql) => /advisory|GET_LOCK/i.test(sql))).toEqual([]);
    for (const dataSource of [...started, again]) await dataSource.destroy();
  }, 60_000);

  it('an existing table that no migration created is reported as an error', async () => {
    const database = await databaseForTest(name);
    const other = await new DataSource(database.options).initialize();
    await other.query('CREATE TABLE users (id integer PRIMARY KEY)');
    await expect(prepareDatabase(optionsFor(database), 2)).rejects.toThrow(/users.*already exists/);
    await other.destroy();
  }, 60_000);
});
