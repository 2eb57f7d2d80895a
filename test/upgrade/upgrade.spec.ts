import { ApiKeys, AUTH_ENTITIES, AUTH_MIGRATIONS } from 'nestjs-session-auth';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource, type MigrationInterface, type QueryRunner, TableColumn } from 'typeorm';
import { DATABASES, DIALECTS } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { type FirstRelease, freezeFirstRelease } from './freeze';

/** What a later release may do to the tables: old instances do not know the column. */
class AddColumn1999000000000 implements MigrationInterface {
  readonly name = 'AddColumn1999000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.addColumn('auth_sessions', new TableColumn({ name: 'later', type: 'text', isNullable: true }));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropColumn('auth_sessions', 'later');
  }
}

describe.each(DATABASES)('an upgrade from the first release on %s', (name) => {
  const file = join(__dirname, `first-release/${DIALECTS[name]}.json`);
  beforeAll(() => (process.env['UPDATE_FIXTURES'] ? freezeFirstRelease(name, file) : undefined));

  it('an upgrade with old and new instances at the same time, and the way back, sign nobody out and keep what the first release stored', async () => {
    const { sessions, key, ticket, reset, statements } = JSON.parse(readFileSync(file, 'utf8')) as FirstRelease;
    const database = await databaseForTest(name);
    const instance = { ...database, options: { ...database.options, synchronize: false } };
    const release = async (...later: (new () => MigrationInterface)[]): Promise<DataSource> =>
      new DataSource({
        ...database.options,
        entities: [...AUTH_ENTITIES],
        migrations: [...AUTH_MIGRATIONS, ...later],
      }).initialize();

    const current = await release();
    for (const statement of statements) await current.query(statement);
    const old = await startForTest(instance, { users: [] });
    old.clock.advance(MINUTE);
    const released = await current.query<{ name: string }[]>('SELECT name FROM migrations');
    const added = AUTH_MIGRATIONS.map((migration) => migration.name).slice(released.length);
    expect((await current.runMigrations()).map((migration) => migration.name)).toEqual(added);
    expect((await current.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query)).toEqual([]);
    await current.destroy();

    const next = await release(AddColumn1999000000000);
    await next.runMigrations();
    const renewed = await startForTest(instance, { users: [] });
    renewed.clock.advance(MINUTE);
    const tokens = new Map(sessions.map(({ id, refresh_token }) => [id, refresh_token]));
    const refreshAll = async (...instances: (typeof old)[]): Promise<void> => {
      for (const app of instances) {
        for (const [id, token] of tokens) {
          const { body } = await app.refresh(token).expect(200);
          for (const other of [old, renewed]) await other.get('/me', body.access_token).expect(200);
          tokens.set(id, body.refresh_token);
        }
      }
    };
    for (const { access_token } of sessions) {
      for (const app of [old, renewed]) await app.get('/me', access_token).expect(200);
    }
    await refreshAll(renewed, old, renewed);
    for (const app of [old, renewed]) {
      const opened = await app.login('bob');
      tokens.set(opened.session_id, opened.refresh_token);
    }
    await next.undoLastMigration();
    await next.destroy();
    await refreshAll(old);
    expect([old, renewed].flatMap((app) => app.sent('user_logged_out'))).toEqual([]);

    await renewed.nest.get(ApiKeys).authenticate(key, ['orders:read']);
    await renewed.auth.openSession({ ticket });
    await renewed.auth.redeemPasswordResetToken(reset, 'a password that is new');
    await renewed.refresh(sessions[0]!.used).expect(400);
    expect(renewed.sent('token_reuse_detected')).toHaveLength(1);
  });
});
