import type { CanActivate, Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import { DataSource, type DataSourceOptions, type MigrationInterface } from 'typeorm';
import { DATABASES } from '../support/databases';
import { entityOf, TEXT } from '../support/mapped-users';
import { databaseForTest } from '../support/start-for-test';
import { codeOf } from './run-block';

const { RolesGuard, Roles } = codeOf('docs/roles.md')<{
  RolesGuard: Type<CanActivate>;
  Roles: (role: string) => MethodDecorator;
}>('## Add the guard');

class Reports {
  @Roles('admin')
  list(): void {}

  open(): void {}
}
const admin = { user: { roles: ['admin'] } };

it.each<[boolean, string, object, 'list' | 'open']>([
  [true, 'http', admin, 'list'],
  [false, 'http', { user: { roles: ['user'] } }, 'list'],
  [false, 'http', { user: { roles: null } }, 'list'],
  [false, 'http', {}, 'list'],
  // Roles in the payload, or in the parent object of a field, are those that the client has sent.
  ...['rpc', 'ws', 'graphql'].flatMap<[boolean, string, object, 'list' | 'open']>((type) => [
    [false, type, { token: 'nsaa_x', ...admin }, 'list'],
    [true, type, {}, 'open'],
  ]),
])(
  'the guard in docs/roles.md returns %s for a call of %s with %j to the route %s',
  (isAllowed, type, first, route) => {
    const context = new ExecutionContextHost([first], Reports, Reports.prototype[route]);
    context.setType(type);
    expect(new RolesGuard(new Reflector()).canActivate(context)).toBe(isAllowed);
  },
);

const Member = entityOf('members', { id: { type: Number, primary: true }, email: TEXT, foldedEmail: TEXT });
const { FoldEmails1760000000001: FoldEmails } = codeOf('docs/your-own-users.md')<
  Record<string, Type<MigrationInterface>>
>('### Ignore case', {}, 1);

describe.each(DATABASES)('the migration for folded usernames in docs/your-own-users.md on %s', (name) => {
  it.each([
    ['the migration creates the column, fills it, and makes it NOT NULL and unique', false],
    ['the migration also fills the column of an earlier migration, and keeps its values', true],
  ])('%s', async (_, hasColumn) => {
    const database = await databaseForTest(name);
    // Applications can also use the type `mysql` with MariaDB, where TypeORM then misreads the defaults of columns.
    const driver = name === 'mariadb' ? { type: 'mysql' as const } : {};
    const options = { ...database.options, ...driver, entities: [Member] } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    const runner = dataSource.createQueryRunner();
    await runner.query('CREATE TABLE members (id int PRIMARY KEY, email varchar(255))');
    await runner.query(`INSERT INTO members VALUES (1, 'Alice@example.com'), (2, 'BOB@example.com')`);
    if (hasColumn) {
      await runner.query(`ALTER TABLE members ADD ${dataSource.driver.escape('foldedEmail')} varchar(255)`);
      // The second of the two releases on the page has no `addColumn`.
      runner.addColumn = () => Promise.resolve();
    }
    const migration = new FoldEmails!();
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
  });
});
