import {
  AUTH_ENTITIES,
  AUTH_ENTITIES_WITHOUT_USERS,
  AUTH_MIGRATIONS,
  AUTH_MIGRATIONS_WITHOUT_USERS,
  withAuthTables,
} from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';
import { SQLITE } from '../support/sqlite';

class Article {}

class CreateArticles1760000000500 {}

const given = { ...SQLITE, database: ':memory:' } as const;
const entities = [Article];
const migrations = [CreateArticles1760000000500];
const GLOBS = { entities: ['dist/**/*.entity.js'], migrations: ['dist/migrations/*.js'] };

describe('withAuthTables', () => {
  it.each<[string, Pick<DataSourceOptions, 'entities' | 'migrations'>, [unknown[], unknown[]]]>([
    ['no lists', {}, [[], []]],
    ['arrays', { entities, migrations }, [entities, migrations]],
    ['objects', { entities: { Article }, migrations: { CreateArticles1760000000500 } }, [entities, migrations]],
    ['globs', GLOBS, [GLOBS.entities, GLOBS.migrations]],
  ])('withAuthTables adds the entities and migrations of the library to %s', (_, lists, [own, ownMigrations]) => {
    const options: DataSourceOptions = { ...given, ...lists };
    expect(withAuthTables(options)).toEqual({
      ...given,
      entities: [...own, ...AUTH_ENTITIES],
      migrations: [...ownMigrations, ...AUTH_MIGRATIONS],
    });
    expect(withAuthTables(options, { usersTable: false })).toEqual({
      ...given,
      entities: [...own, ...AUTH_ENTITIES_WITHOUT_USERS],
      migrations: [...ownMigrations, ...AUTH_MIGRATIONS_WITHOUT_USERS],
    });
  });

  it('withAuthTables adds nothing twice, and does not change its argument', () => {
    const once = withAuthTables({ ...given, entities });
    expect(withAuthTables(once)).toEqual(once);
    const listed = { ...given, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
    expect(withAuthTables(listed)).toEqual(listed);
    expect(entities).toEqual([Article]);
  });
});
