import { DataSource } from 'typeorm';
import { SQLITE } from '../support/sqlite';
import { AUTH_ENTITIES, AuthSession } from '../../libs/auth/src/database/entities';
import { Statement } from '../../libs/auth/src/database/statements';

describe('Statement', () => {
  let dataSource: DataSource;

  beforeAll(async () => {
    const options = { ...SQLITE, database: ':memory:', entityPrefix: 'x_' };
    dataSource = await new DataSource({ ...options, entities: [...AUTH_ENTITIES] }).initialize();
  });
  afterAll(() => dataSource.destroy());

  const compile = (template: string, isPrepared = false): Statement =>
    new Statement(dataSource, { session: AuthSession }, template, isPrepared);

  it('uses the names of the DataSource and passes values, including lists, as parameters', () => {
    const statement = compile(
      'SELECT {session.userId} FROM {session} WHERE {session.id} IN (:ids...) AND {session.state} = :state',
    );
    expect(statement.with({ ids: ['a', 'b'], state: "x' OR 1=1" })).toEqual({
      sql: 'SELECT "user_id" FROM "x_auth_sessions" WHERE "id" IN (?, ?) AND "state" = ?',
      params: ['a', 'b', "x' OR 1=1"],
      isPrepared: false,
    });
  });

  it('passes the values of a list of rows as parameters', () => {
    const statement = compile('INSERT INTO {session} ({session.id}, {session.userId}) VALUES :rows...');
    expect(
      statement.with({
        rows: [
          ['a', 'b'],
          ['c', 'd'],
        ],
      }),
    ).toMatchObject({
      sql: 'INSERT INTO "x_auth_sessions" ("id", "user_id") VALUES (?, ?), (?, ?)',
      params: ['a', 'b', 'c', 'd'],
    });
  });

  it('reports whether the server prepares the statement', () => {
    expect(compile('SELECT 1', true).with({})).toEqual({ sql: 'SELECT 1', params: [], isPrepared: true });
  });

  it('throws for a missing parameter instead of running with a wrong condition', () => {
    expect(() => compile('DELETE FROM {session} WHERE {session.id} = :id').with({})).toThrow('No value for ":id".');
    expect(() => compile('DELETE FROM {session} WHERE {session.id} = :id').with({ id: undefined })).toThrow('":id"');
  });

  it('throws if its template contains an unknown entity or column', () => {
    expect(() => compile('SELECT {session.nothing} FROM {session}')).toThrow('has no column "nothing"');
    expect(() => compile('SELECT * FROM {user}')).toThrow('No entity "user"');
  });
});
