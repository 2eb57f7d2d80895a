import { Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AUTH_ENTITIES,
  AUTH_ENTITIES_WITHOUT_USERS,
  AUTH_MIGRATIONS,
  AUTH_MIGRATIONS_WITHOUT_USERS,
  AuthModule,
  AuthService,
  withAuthTables,
} from 'nestjs-session-auth';
import { Column, type DataSourceOptions, Entity, type MigrationInterface, PrimaryColumn } from 'typeorm';
import { SQLITE } from '../support/sqlite';
import { CHEAP } from '../support/test-application';

@Entity()
class Article {
  @PrimaryColumn() id!: number;
  @Column() title!: string;
}

class CreateArticles1760000000500 implements MigrationInterface {
  up = async (): Promise<void> => {};
  down = async (): Promise<void> => {};
}

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

  it('an application with withAuthTables, migrationsRun and autoLoadEntities can log in', async () => {
    const tables = withAuthTables({ ...given, entities, migrationsRun: true });
    const typeorm = TypeOrmModule.forRoot({ ...tables, autoLoadEntities: true });
    @Module({ imports: [typeorm, EventEmitterModule.forRoot(), AuthModule.forRoot(CHEAP)] })
    class AppModule {}
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    await module.init();
    const auth = module.get(AuthService);
    const alice = { username: 'alice', password: 'correct horse battery staple' };
    await auth.createUser(alice);
    expect(await auth.login(alice, { ipAddress: '192.0.2.1' })).toMatchObject({ sessionId: expect.any(String) });
    await module.close();
  });
});
