import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { openSqliteFile } from './sqlite-driver';

/** The values of parameters. Only on PostgreSQL can a list be one parameter. */
export type Values = readonly (string | number | readonly string[])[];
export type Row = Readonly<Record<string, unknown>>;

/** A database that uses the prepared statements of its driver, without TypeORM. */
export interface RawDatabase {
  /** Returns a function that runs the statement and returns its rows. */
  prepare(name: string, sql: string): (values: Values) => Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Opens a database. Placeholders are `?` on every database. */
export function openRaw(options: DataSourceOptions): RawDatabase {
  if (options.type === 'postgres') return openPostgres(String(options.url));
  if (options.type === 'better-sqlite3') return openSqlite(String(options.database));
  return openMariaDb((options as { url: string }).url);
}

function openPostgres(connectionString: string): RawDatabase {
  const pool = new Pool({ connectionString });
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', () => undefined);
  return {
    prepare(name, sql) {
      let index = 0;
      const text = sql.replace(/\?/g, () => `$${++index}`);
      return async (values) => (await pool.query<Row>({ name, text, values: [...values] })).rows;
    },
    close: () => pool.end(),
  };
}

function openMariaDb(uri: string): RawDatabase {
  const pool = createPool({ uri });
  return {
    prepare: (_, sql) => async (values) =>
      (await pool.execute(sql, [...(values as (string | number)[])]))[0] as unknown as readonly Row[],
    close: () => pool.end(),
  };
}

function openSqlite(file: string): RawDatabase {
  const database = openSqliteFile(file);
  return {
    prepare(_, sql) {
      const statement = database.prepare(sql);
      return (values) => {
        if (statement.reader) return Promise.resolve(statement.all(...values));
        statement.run(...values);
        return Promise.resolve([]);
      };
    },
    close() {
      database.close();
      return Promise.resolve();
    },
  };
}
