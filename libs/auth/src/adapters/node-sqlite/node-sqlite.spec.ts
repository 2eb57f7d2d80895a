import { hasNodeSqlite, NodeSqlite } from './index';
import { SqlText } from './sql-text';

const describeHere = hasNodeSqlite() ? describe : describe.skip;

/** What test/store/sqlite-driver.spec.ts expects of both drivers is not repeated here. */
describeHere('a connection of node:sqlite', () => {
  it.each([
    ['verbose', console.log, '`verbose` is not supported on node:sqlite: set `logging: true`'],
    ['nativeBinding', 'a.node', '`nativeBinding` is not supported on node:sqlite: remove it'],
  ])('refuses the option %s, with what to write instead', (option, value, message) => {
    expect(() => new NodeSqlite(':memory:', { [option]: value })).toThrow(message);
    expect(() => new NodeSqlite(':memory:', { [option]: null }).close()).not.toThrow();
  });

  it('refuses the key of an encrypted database instead of writing an open one', () => {
    const db = new NodeSqlite(':memory:');
    for (const pragma of ['key = "secret"', " KEY='secret'", 'rekey = x', 'hexkey = x']) {
      expect(() => db.pragma(pragma)).toThrow('node:sqlite cannot encrypt a database');
    }
  });

  it.each(['aggregate', 'backup', 'loadExtension', 'serialize', 'table', 'transaction', 'unsafeMode'])(
    'says that %s() of better-sqlite3 is not supported',
    (name) => {
      const db = new NodeSqlite(':memory:') as unknown as Record<string, () => unknown>;
      expect(() => db[name]!()).toThrow(`${name}() is not supported on node:sqlite`);
    },
  );

  it('names no value in the error about one that cannot be bound', () => {
    const select = new NodeSqlite(':memory:').prepare('SELECT ? AS a');
    expect(() => select.all({ password: 'secret' })).toThrow(/^SQLite stores .* a parameter of type object cannot be/);
  });

  it('throws for an integer that no number represents, instead of rounding it', () => {
    const select = new NodeSqlite(':memory:').prepare('SELECT 9007199254740993 AS big');
    expect(() => select.all()).toThrow('too large to be represented as a JavaScript number: 9007199254740993');
  });

  it.each(['SELECT ?1 AS a', 'SELECT :a AS a', 'SELECT @a AS a', 'SELECT $a AS a'])(
    'leaves it to SQLite to count the values of %s',
    (sql) => {
      const select = new NodeSqlite(':memory:').prepare(sql);
      expect(() => select.all(1, 2, 3)).toThrow(expect.objectContaining({ code: 'SQLITE_RANGE' }));
    },
  );
});

describeHere('a node:sqlite of Node 22.13 to 22.15', () => {
  it('is enough: it reports neither transactions nor columns', () => {
    type Open = new (path: string) => { prepare(sql: string): object; exec(sql: string): void };
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as { DatabaseSync: Open };
    class Older {
      private readonly database = new DatabaseSync(':memory:');

      prepare(sql: string): object {
        return Object.assign(this.database.prepare(sql), { columns: undefined });
      }

      exec(sql: string): void {
        this.database.exec(sql);
      }
    }
    const older = jest.spyOn(process, 'getBuiltinModule').mockReturnValue({ DatabaseSync: Older });
    const db = new NodeSqlite(':memory:');
    older.mockRestore();
    expect(db.inTransaction).toBe(false);
    db.exec('BEGIN');
    expect(db.inTransaction).toBe(true);
    expect(db.prepare('CREATE TABLE t (id)').reader).toBe(false);
    expect(db.prepare('SELECT 1').reader).toBe(true);
    db.exec('ROLLBACK');
    expect(db.inTransaction).toBe(false);
  });

  it.each([
    'SELECT 1',
    'VALUES (1), (2)',
    "/* x */ WITH x AS (SELECT 'UPDATE' AS y) SELECT replace(y, 'A', 'B') FROM x",
    'PRAGMA busy_timeout',
    'EXPLAIN DELETE FROM t',
    'INSERT INTO t VALUES (1) RETURNING id',
    "UPDATE t SET id = 'RETURNING' -- RETURNING",
    'UPDATE t SET "RETURNING" = 1',
    'WITH x AS (SELECT 1 AS y) INSERT INTO t SELECT y, y FROM x',
    'WITH x AS (SELECT 1 AS y) REPLACE INTO t SELECT y, y FROM x',
    'WITH x AS (SELECT 1 AS y) DELETE FROM t WHERE id IN (SELECT y FROM x) RETURNING id',
    'DROP TABLE t',
    'COMMIT',
    'ANALYZE',
  ])('is read from the text as newer ones report it: %s', (sql) => {
    const open = (): NodeSqlite => new NodeSqlite(':memory:').exec('CREATE TABLE t (id, "RETURNING")');
    const reported = open().prepare(sql.replace('INTO t VALUES (1)', 'INTO t VALUES (1, 1)')).reader;
    expect(new SqlText(sql).returnsRows).toBe(reported);
  });
});

describe('a Node without node:sqlite', () => {
  it('is recognised, and the start fails with what to install', async () => {
    jest.doMock('node:module', () => ({ isBuiltin: (name: string) => name !== 'node:sqlite' }));
    await jest.isolateModulesAsync(async () => {
      const { hasNodeSqlite, NodeSqlite } = await import('./index.js');
      expect(hasNodeSqlite()).toBe(false);
      expect(() => new NodeSqlite(':memory:')).toThrow(
        `Node ${process.versions.node} has no node:sqlite. Use Node 22.13 or later, or install better-sqlite3`,
      );
    });
    jest.dontMock('node:module');
  });
});
