import { DataSource } from 'typeorm';
import { SQLITE } from '../../../../../test/support/sqlite';
import { AUTH_ENTITIES, AuthSession } from '../entities';
import { Statement } from './statement';

describe('a statement', () => {
  let dataSource: DataSource;

  beforeAll(async () => {
    const options = { ...SQLITE, database: ':memory:', entityPrefix: 'x_' };
    dataSource = await new DataSource({ ...options, entities: [...AUTH_ENTITIES] }).initialize();
  });
  afterAll(() => dataSource.destroy());

  const compile = (template: string, isPrepared = false): Statement =>
    new Statement(dataSource, { session: AuthSession }, template, isPrepared);

  it('has the names of the DataSource, and its values as parameters, lists included', () => {
    const statement = compile(
      'SELECT {session.userId} FROM {session} WHERE {session.id} IN (:ids...) AND {session.state} = :state',
    );
    expect(statement.with({ ids: ['a', 'b'], state: "x' OR 1=1" })).toEqual({
      sql: 'SELECT "user_id" FROM "x_auth_sessions" WHERE "id" IN (?, ?) AND "state" = ?',
      params: ['a', 'b', "x' OR 1=1"],
      isPrepared: false,
    });
  });

  it('says whether the server prepares it', () => {
    expect(compile('SELECT 1', true).with({})).toEqual({ sql: 'SELECT 1', params: [], isPrepared: true });
  });

  it('fails where a parameter is missing, rather than run with a wrong condition', () => {
    expect(() => compile('DELETE FROM {session} WHERE {session.id} = :id').with({})).toThrow('No value for ":id".');
    expect(() => compile('DELETE FROM {session} WHERE {session.id} = :id').with({ id: undefined })).toThrow('":id"');
  });

  it('cannot be compiled with a name that does not exist', () => {
    expect(() => compile('SELECT {session.nothing} FROM {session}')).toThrow('has no column "nothing"');
    expect(() => compile('SELECT * FROM {user}')).toThrow('No entity "user"');
  });
});
