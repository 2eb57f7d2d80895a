import { hasNodeSqlite, NodeSqlite, type NodeSqliteOptions } from 'nestjs-session-auth/node-sqlite';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { outlineOf, returnsRows } from '../../libs/auth/src/node-sqlite/statement';
import { SQLITE, SQLITE_DRIVER } from '../support/sqlite';
import { databaseForTest } from '../support/start-for-test';

type Driver = new (path: string, options?: NodeSqliteOptions) => NodeSqlite;

/**
 * The driver that the tests run on. TypeORM and the library expect this behavior of every driver of type
 * `better-sqlite3`.
 */
const Driver: Driver = SQLITE_DRIVER === 'node:sqlite' ? NodeSqlite : jest.requireActual<Driver>('better-sqlite3');

/** Asserts the code or name of an error. `instanceof` does not work for errors of native modules. */
function expectError(call: () => unknown, what: `SQLITE_${string}` | 'TypeError' | 'RangeError'): void {
  const error = what.startsWith('SQLITE') ? { name: 'SqliteError', code: what } : { name: what };
  expect(call).toThrow(expect.objectContaining(error));
}

/** Statements on the table `t`, and whether they return rows. */
const STATEMENTS: [sql: string, returnsRows: boolean][] = [
  ['SELECT 1', true],
  ["/* INSERT */ VALUES ('RETURNING', 1) -- UPDATE", true],
  ["/* x */ WITH x AS (SELECT 'UPDATE' AS y) SELECT replace(y, 'A', 'B') FROM x", true],
  ['EXPLAIN DELETE FROM t', true],
  ['EXPLAIN QUERY PLAN SELECT 1', true],
  ['PRAGMA journal_mode', true],
  ["INSERT INTO t (name) VALUES ('a') RETURNING id", true],
  ['delete from t returning *', true],
  ['WITH x AS (SELECT 1 AS y) DELETE FROM t WHERE id IN (SELECT y FROM x) RETURNING id', true],
  ["INSERT INTO t (name) VALUES ('a; RETURNING')", false],
  ["UPDATE t SET name = 'RETURNING', size = 1 WHERE \"name\" = 'x' -- RETURNING", false],
  ['UPDATE t SET "RETURNING" = 1', false],
  ["WITH x AS (SELECT 'it''s' AS y) INSERT INTO t (name) SELECT y FROM x", false],
  ['WITH x AS (SELECT 1 AS y) REPLACE INTO t (id) SELECT y FROM x', false],
  ['WITH x AS (SELECT 1 AS y) UPDATE t SET size = 1 WHERE id IN (SELECT y FROM x)', false],
  ['CREATE TABLE u AS SELECT 1 AS id', false],
  ['DROP TABLE t', false],
  ['BEGIN', false],
  ['ANALYZE', false],
];

@Entity('notes')
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ unique: true }) text!: string;
  @Column({ type: 'blob', nullable: true }) data!: Buffer | null;
  @Column({ default: false }) done!: boolean;
  @Column({ type: 'datetime', nullable: true }) at!: Date | null;
}

describe(`a connection of ${SQLITE_DRIVER}`, () => {
  let file: string;
  let db: NodeSqlite;

  beforeEach(async () => {
    file = ((await databaseForTest('sqlite')).options as { database: string }).database;
    db = new Driver(file);
    db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB, size REAL, "RETURNING")');
  });
  afterEach(() => void db.close());

  it('the driver returns rows as ordinary objects, and blobs as buffers', () => {
    const insert = db.prepare('INSERT INTO t (id, name, data, size) VALUES (?, ?, ?, ?)');
    insert.run(1, 'alice', Buffer.from('abc'), 1.5);
    insert.run(2, null, new Uint8Array(0), undefined);
    const select = db.prepare('SELECT id, name, data, size FROM t WHERE id >= ? ORDER BY id');
    const rows = select.all(1);
    expect(rows).toEqual([
      { id: 1, name: 'alice', data: Buffer.from('abc'), size: 1.5 },
      { id: 2, name: null, data: Buffer.alloc(0), size: null },
    ]);
    expect(select.get(2)).toEqual(rows[1]);
    expect(select.get(3)).toBeUndefined();
    expect([...select.iterate(1)]).toEqual(rows);
    for (const row of [rows[0]!, select.get(2)!, ...select.iterate(1)]) {
      expect(Object.getPrototypeOf(row)).not.toBeNull();
      expect(Buffer.isBuffer(row['data'])).toBe(true);
    }
  });

  it.each(STATEMENTS)('the driver reports whether %s returns rows', (sql, returns) => {
    expect(db.prepare(sql).reader).toBe(returns);
  });

  it('the driver reports the number of changed rows, and 0 for statements that change no rows', () => {
    const insert = db.prepare('INSERT INTO t (name) VALUES (?), (?)');
    expect(insert.run('alice', 'bob')).toEqual({ changes: 2, lastInsertRowid: 2 });
    expect(db.prepare('CREATE TABLE u (id)').run().changes).toBe(0);
    expect(db.prepare("UPDATE t SET name = 'carol' WHERE id = 3").run().changes).toBe(0);
    expect(db.prepare('BEGIN').run().changes).toBe(0);
    expect(db.prepare('/* all */ DELETE FROM t').run().changes).toBe(2);
  });

  it('the driver refuses to bind a boolean, a date, a function or a symbol, and writes nothing', () => {
    for (const value of [true, new Date(0), () => 1, Symbol('s')]) {
      expectError(() => db.prepare('INSERT INTO t (name) VALUES (?)').run(value), 'TypeError');
      expectError(() => db.prepare('SELECT * FROM t WHERE name = ?').all(value), 'TypeError');
    }
    expect(db.prepare('SELECT * FROM t').all()).toEqual([]);
  });

  it('the driver refuses too few and too many values, and writes nothing', () => {
    const sql = "INSERT INTO t (name, data) VALUES (? || '?', ?) -- ?";
    expectError(() => db.prepare(sql).run('alice'), 'RangeError');
    expectError(() => db.prepare(sql).run('alice', null, 1), 'RangeError');
    expect(db.prepare(sql).run('alice', null).changes).toBe(1);
  });

  it('the driver refuses to prepare text with no statement or with more than one statement', () => {
    expectError(() => db.prepare("DELETE FROM t WHERE name = ';'; DELETE FROM t"), 'RangeError');
    expectError(() => db.prepare('-- nothing'), 'RangeError');
    expect(db.prepare('SELECT 1 AS one; -- and no more;').all()).toEqual([{ one: 1 }]);
    const trigger = 'CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t WHERE id = 1; SELECT 1; END;';
    expect(db.prepare(trigger).run().changes).toBe(0);
  });

  it.each<[string, `SQLITE_${string}`]>([
    ["INSERT INTO t (name) VALUES ('alice')", 'SQLITE_CONSTRAINT_UNIQUE'],
    ['INSERT INTO t (id) VALUES (1)', 'SQLITE_CONSTRAINT_PRIMARYKEY'],
    ['INSERT INTO k VALUES (NULL, 1, 2)', 'SQLITE_CONSTRAINT_NOTNULL'],
    ['INSERT INTO k VALUES (1, 99, 2)', 'SQLITE_CONSTRAINT_FOREIGNKEY'],
    ['INSERT INTO k VALUES (1, 1, 1)', 'SQLITE_CONSTRAINT_CHECK'],
    ["INSERT INTO k VALUES (1, 1, 'x')", 'SQLITE_CONSTRAINT_DATATYPE'],
    ["INSERT INTO t (id) VALUES ('x')", 'SQLITE_MISMATCH'],
    ['SELECT * FROM missing', 'SQLITE_ERROR'],
    ['SELEC', 'SQLITE_ERROR'],
  ])('the error of %s has the code %s', (sql, code) => {
    db.exec('CREATE TABLE k (a INTEGER NOT NULL, b INTEGER REFERENCES t (id), c INTEGER CHECK (c > 1)) STRICT');
    db.exec("INSERT INTO t (id, name) VALUES (1, 'alice')");
    expectError(() => db.prepare(sql).run(), code);
    expectError(() => db.exec(sql), code);
  });

  it('the driver sets the busy timeout of the connection, and reports conflicts with other connections as busy', () => {
    expect(db.pragma('busy_timeout', { simple: true })).toBe(5_000);
    db.pragma('journal_mode = WAL');
    const other = new Driver(file, { timeout: 20 });
    expect(other.pragma('busy_timeout')).toEqual([{ timeout: 20 }]);
    db.exec('BEGIN IMMEDIATE');
    expectError(() => other.exec('BEGIN IMMEDIATE'), 'SQLITE_BUSY');
    expect(other.inTransaction).toBe(false);
    db.exec('COMMIT');
    other.exec('BEGIN');
    other.prepare('SELECT * FROM t').all();
    db.exec('INSERT INTO t (id) VALUES (1)');
    expectError(() => other.exec('DELETE FROM t'), 'SQLITE_BUSY_SNAPSHOT');
    other.close();
  });

  it('the driver reports whether a transaction is open', () => {
    for (const [sql, isOpen] of [
      ['SELECT 1', false],
      ['BEGIN', true],
      ['SAVEPOINT s; RELEASE s', true],
      ["INSERT INTO t (id) VALUES (1); INSERT INTO t (id) VALUES ('x')", true],
      ['ROLLBACK', false],
    ] as const) {
      if (sql.startsWith('INSERT')) expectError(() => db.exec(sql), 'SQLITE_MISMATCH');
      else db.exec(sql);
      expect([sql, db.inTransaction]).toEqual([sql, isOpen]);
    }
    expect(db.prepare('SELECT * FROM t').all()).toEqual([]);
  });

  it('the driver can open a file as read-only, and only if the file exists', () => {
    const reader = new Driver(file, { readonly: true });
    expectError(() => reader.exec('DELETE FROM t'), 'SQLITE_READONLY');
    reader.close();
    const missing = `${file}.missing`;
    expectError(() => new Driver(missing, { readonly: true }), 'SQLITE_CANTOPEN');
    expectError(() => new Driver(missing, { fileMustExist: true }), 'SQLITE_CANTOPEN');
    expectError(() => new Driver(':memory:', { readonly: true }), 'TypeError');
    expectError(() => new Driver(file, { timeout: -1 }), 'TypeError');
    new Driver(':memory:', { fileMustExist: true }).close();
    new Driver(file, { fileMustExist: true }).close();
  });

  it('a connection can be closed twice, and cannot be used afterwards', () => {
    expect(db.open).toBe(true);
    db.close();
    expect([db.close().open, db.inTransaction]).toEqual([false, false]);
    expectError(() => db.prepare('SELECT 1'), 'TypeError');
    expectError(() => db.exec('SELECT 1'), 'TypeError');
  });

  it('the driver sets what TypeORM configures, and returns its values unchanged', async () => {
    const dataSource = await new DataSource({
      ...SQLITE,
      database: `${file}.typeorm`,
      enableWAL: true,
      timeout: 7,
      prepareDatabase: (connection: NodeSqlite) => void connection.pragma('cache_size = 123'),
      entities: [Note],
      synchronize: true,
    }).initialize();
    expect(await dataSource.query('PRAGMA cache_size')).toEqual([{ cache_size: 123 }]);
    expect(await dataSource.query('PRAGMA busy_timeout')).toEqual([{ timeout: 7 }]);
    expect(await dataSource.query('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    const notes = dataSource.getRepository(Note);
    const at = new Date('2026-01-15T10:23:00.123Z');
    const { id, data } = await notes.save({ text: 'milk', data: Buffer.from([1, 0, 2]), done: true, at });
    expect(await notes.findOneByOrFail({ done: true })).toEqual({ id, text: 'milk', data, done: true, at });
    const taken = { driverError: { code: 'SQLITE_CONSTRAINT_UNIQUE' } };
    await expect(notes.insert({ text: 'milk' })).rejects.toMatchObject(taken);
    const failing = dataSource.transaction(async (manager) => {
      expect((await manager.delete(Note, { text: 'milk' })).affected).toBe(1);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await dataSource.query('SELECT text FROM notes WHERE text = ?', ['milk'])).toEqual([{ text: 'milk' }]);
    expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    await dataSource.destroy();
  });
});

const describeIfAvailable = hasNodeSqlite() ? describe : describe.skip;

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

  it('throws SQLITE_RANGE for more values than a statement with named or numbered parameters has', () => {
    for (const parameter of ['?1', ':a', '@a', '$a']) {
      const select = new NodeSqlite(':memory:').prepare(`SELECT ${parameter} AS a`);
      expectError(() => select.all(1, 2, 3), 'SQLITE_RANGE');
    }
  });
});

describeIfAvailable('node:sqlite of Node 22.13 to 22.15', () => {
  it('is supported, although it reports neither transactions nor columns', () => {
    type Open = new (path: string) => { prepare(sql: string): object; exec(sql: string): void };
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as { DatabaseSync: Open };
    const database = new DatabaseSync(':memory:');
    class Older {
      prepare = (sql: string): object => Object.assign(database.prepare(sql), { columns: undefined });
      exec = (sql: string): void => database.exec(sql);
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

  it.each(STATEMENTS)('detects from its text whether a statement returns rows: %s', (sql, returns) => {
    expect(returnsRows(outlineOf(sql))).toBe(returns);
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
