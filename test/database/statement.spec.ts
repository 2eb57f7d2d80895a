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

  const compile = (template: string): Statement => new Statement(dataSource, { session: AuthSession }, template, false);

  it('uses the names of the DataSource and passes values, including lists, as parameters', () => {
    const select = compile(
      'SELECT {session.userId} FROM {session} WHERE {session.id} IN (:ids...) AND {session.state} = :s',
    );
    expect(select.with({ ids: ['a', 'b'], s: "x' OR 1=1" })).toEqual({
      sql: 'SELECT "user_id" FROM "x_auth_sessions" WHERE "id" IN (?, ?) AND "state" = ?',
      params: ['a', 'b', "x' OR 1=1"],
      isPrepared: false,
    });
    const insert = compile('INSERT INTO {session} ({session.id}, {session.userId}) VALUES :rows...');
    const rows = [
      ['a', 'b'],
      ['c', 'd'],
    ];
    expect(insert.with({ rows })).toMatchObject({
      sql: 'INSERT INTO "x_auth_sessions" ("id", "user_id") VALUES (?, ?), (?, ?)',
      params: ['a', 'b', 'c', 'd'],
    });
  });

  it('throws for a missing parameter instead of running with a wrong condition', () => {
    const statement = compile('DELETE FROM {session} WHERE {session.id} = :id');
    expect(() => statement.with({})).toThrow('No value for ":id".');
    expect(() => statement.with({ id: undefined })).toThrow('":id"');
  });
});
