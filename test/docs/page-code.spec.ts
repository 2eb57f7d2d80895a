import type { CanActivate } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import { Column, DataSource, type DataSourceOptions, Entity, PrimaryColumn, type MigrationInterface } from 'typeorm';
import { createDatabase, DATABASES } from '../support/databases';
import { blocksOf } from './code-blocks';
import { runBlock } from './run-block';

describe('the guard in docs/roles.md', () => {
  type Guard = new (reflector: Reflector) => CanActivate;
  const block = blocksOf('docs/roles.md').find(({ code }) => code.includes('class RolesGuard'))!;
  const { RolesGuard, Roles } = runBlock<{ RolesGuard: Guard; Roles: (role: string) => MethodDecorator }>(block);

  class Reports {
    @Roles('admin')
    list(): void {}

    open(): void {}
  }

  /** Returns whether the guard accepts a call whose request, payload or parent object is given. */
  const accepts = (type: string, first: object, handler: 'list' | 'open' = 'list'): unknown => {
    const context = new ExecutionContextHost([first], Reports, Reports.prototype[handler]);
    context.setType(type);
    return new RolesGuard(new Reflector()).canActivate(context);
  };
  const admin = { user: { roles: ['admin'] } };

  it('the guard accepts a request only if its user has the role', () => {
    expect(accepts('http', admin)).toBe(true);
    expect(accepts('http', { user: { roles: ['user'] } })).toBe(false);
    expect(accepts('http', { user: { roles: null } })).toBe(false);
    expect(accepts('http', {})).toBe(false);
  });

  it.each(['rpc', 'ws', 'graphql'])(
    'the guard refuses roles that are in the payload or parent object of a call of %s',
    (type) => {
      expect(accepts(type, { token: 'nsaa_x', ...admin })).toBe(false);
      expect(accepts(type, {}, 'open')).toBe(true);
    },
  );
});

@Entity('members')
class Member {
  @PrimaryColumn() id!: number;
  @Column() email!: string;
  @Column() foldedEmail!: string;
}

function migrationOfPage(): MigrationInterface {
  const block = blocksOf('docs/your-own-users.md').find(({ code }) => code.includes('class FoldEmails'))!;
  const { FoldEmails1760000000001: FoldEmails } = runBlock<Record<string, new () => MigrationInterface>>(block);
  return new FoldEmails!();
}

describe.each(DATABASES)('the migration for folded usernames in docs/your-own-users.md on %s', (name) => {
  it.each([
    ['the migration creates the column, fills it, and makes it NOT NULL and unique', false],
    ['the migration also fills the column of an earlier migration, and keeps its values', true],
  ])('%s', async (_, hasColumn) => {
    const database = await createDatabase(name);
    // Applications can also use the type `mysql` with MariaDB, where TypeORM then misreads the defaults of columns.
    const driver = name === 'mariadb' ? { type: 'mysql' as const } : {};
    const options = { ...database.options, ...driver, entities: [Member] } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    const runner = dataSource.createQueryRunner();
    await runner.query('CREATE TABLE members (id int PRIMARY KEY, email varchar(255))');
    await runner.query(`INSERT INTO members VALUES (1, 'Alice@example.com'), (2, 'BOB@example.com')`);
    const migration = migrationOfPage();
    if (hasColumn) {
      await runner.query(`ALTER TABLE members ADD ${runner.connection.driver.escape('foldedEmail')} varchar(255)`);
      // The second of the two releases on the page has no `addColumn`.
      runner.addColumn = () => Promise.resolve();
    }

    await migration.up(runner);

    const members: { foldedEmail: string }[] = await runner.query('SELECT * FROM members ORDER BY id');
    expect(members.map(({ foldedEmail }) => foldedEmail)).toEqual(['alice@example.com', 'bob@example.com']);
    const table = await runner.getTable('members');
    const { isNullable, default: value } = table!.findColumnByName('foldedEmail')!;
    expect([isNullable, value]).toEqual([false, undefined]);
    expect(table?.indices).toMatchObject([{ columnNames: ['foldedEmail'], isUnique: true }]);

    await migration.down(runner);
    expect((await runner.getTable('members'))?.findColumnByName('foldedEmail')).toBeUndefined();
    await runner.release();
    await dataSource.destroy();
    await database.drop();
  });
});
