import { hasNodeSqlite, NodeSqlite } from '../../libs/auth/src/node-sqlite/node-sqlite';
import { outlineOf, returnsRows } from '../../libs/auth/src/node-sqlite/statement';

const describeIfAvailable = hasNodeSqlite() ? describe : describe.skip;

/** test/node-sqlite/sqlite-driver.spec.ts tests the behavior that both SQLite drivers share. */
describeIfAvailable('a node:sqlite connection', () => {
  it.each([
    ['verbose', console.log, '`verbose` is not supported on node:sqlite: set `logging: true`'],
    ['nativeBinding', 'a.node', '`nativeBinding` is not supported on node:sqlite: remove it'],
  ])('refuses the option %s with an error that names the alternative', (option, value, message) => {
    expect(() => new NodeSqlite(':memory:', { [option]: value })).toThrow(message);
    expect(() => new NodeSqlite(':memory:', { [option]: null }).close()).not.toThrow();
  });

  it('refuses an encryption key instead of creating an unencrypted database', () => {
    const db = new NodeSqlite(':memory:');
    for (const pragma of ['key = "secret"', " KEY='secret'", 'rekey = x', 'hexkey = x']) {
      expect(() => db.pragma(pragma)).toThrow('node:sqlite cannot encrypt a database');
    }
  });

  it('throws for a parameter that cannot be bound, with an error that does not contain its value', () => {
    const select = new NodeSqlite(':memory:').prepare('SELECT ? AS a');
    const message = /^A parameter of type object cannot be bound\. SQLite stores [a-z, ]+\.$/;
    expect(() => select.all({ password: 'secret' })).toThrow(message);
  });

  it('throws for an integer that a JavaScript number cannot represent, instead of rounding it', () => {
    const select = new NodeSqlite(':memory:').prepare('SELECT 9007199254740993 AS big');
    expect(() => select.all()).toThrow('too large to be represented as a JavaScript number: 9007199254740993');
  });

  it.each(['SELECT ?1 AS a', 'SELECT :a AS a', 'SELECT @a AS a', 'SELECT $a AS a'])(
    'throws SQLITE_RANGE if %s is given too many values',
    (sql) => {
      const select = new NodeSqlite(':memory:').prepare(sql);
      expect(() => select.all(1, 2, 3)).toThrow(expect.objectContaining({ code: 'SQLITE_RANGE' }));
    },
  );
});

describeIfAvailable('node:sqlite of Node 22.13 to 22.15', () => {
  it('is supported, although it reports neither transactions nor columns', () => {
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
  ])('detects from its text whether a statement returns rows: %s', (sql) => {
    const open = (): NodeSqlite => new NodeSqlite(':memory:').exec('CREATE TABLE t (id, "RETURNING")');
    const reported = open().prepare(sql.replace('INTO t VALUES (1)', 'INTO t VALUES (1, 1)')).reader;
    expect(returnsRows(outlineOf(sql))).toBe(reported);
  });
});

describe('Node without node:sqlite', () => {
  it('is detected, and opening a database fails with an error that says what to install', async () => {
    jest.doMock('node:module', () => ({ isBuiltin: (name: string) => name !== 'node:sqlite' }));
    await jest.isolateModulesAsync(async () => {
      const { hasNodeSqlite, NodeSqlite } = await import('../../libs/auth/src/node-sqlite/index.js');
      expect(hasNodeSqlite()).toBe(false);
      expect(() => new NodeSqlite(':memory:')).toThrow(
        `Node ${process.versions.node} has no node:sqlite. Use Node 22.13 or later, or install better-sqlite3`,
      );
    });
    jest.dontMock('node:module');
  });
});
