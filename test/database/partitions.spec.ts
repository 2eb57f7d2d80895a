import { DataSource } from 'typeorm';
import { AUTH_ENTITIES, AUTH_MIGRATIONS } from 'nestjs-session-auth';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { blocksOf } from '../docs/code-blocks';
import { describeOn } from '../support/databases';
import { DAY, MINUTE } from '../support/driven-clock';
import { startForTest, databaseForTest } from '../support/start-for-test';
import type { LoginAnswer } from '../support/test-application';

/** All SQL statements of the guide. */
const statements = blocksOf('docs/scaling.md')
  .filter(({ language }) => language === 'sql')
  .flatMap(({ code }) => code.replace(/^ *--.*$/gm, '').split(/;\s*$/m))
  .filter((statement) => statement.trim());

describeOn('postgres')('the partitioned tables of docs/scaling.md', (name) => {
  it('the library works with tables that already contained rows when they were partitioned', async () => {
    const created = await databaseForTest(name);
    const tables = { entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS], synchronize: false };
    const database = { ...created, options: { ...created.options, ...tables } };
    const admin = await new DataSource(database.options).initialize();
    await admin.runMigrations();
    const before = await startForTest(database);
    const { refresh_token: used } = await before.login();
    const { refresh_token: live } = (await before.refresh(used).expect(200)).body as LoginAnswer;

    expect(statements.length).toBeGreaterThan(8);
    for (const statement of statements) await admin.query(statement);

    const partitions = await admin.query<{ parent: string }[]>(
      'SELECT DISTINCT inhparent::regclass::text AS parent FROM pg_inherits ORDER BY 1',
    );
    expect(partitions.map(({ parent }) => parent)).toEqual(expect.arrayContaining(['auth_events', 'auth_sessions']));
    const app = await startForTest(database, { users: [] });
    // The event ids that two instances assign within a millisecond have no defined order.
    app.clock.advance(1_000);
    const pair = (await app.refresh(live).expect(200)).body as LoginAnswer;
    const bob = await app.login('bob');
    app.clock.advance(2 * MINUTE);
    await app.get('/me', bob.access_token).expect(200);
    expect((await app.get('/auth/sessions', bob.access_token).expect(200)).body).toHaveLength(1);
    const history = (await app.get('/auth/history', pair.access_token).expect(200)).body as { event: string }[];
    expect(history.map(({ event }) => event)).toEqual(['token_refresh', 'token_refresh', 'login_success']);
    await app.refresh(used).expect(400);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
    await app.get('/me', pair.access_token).expect(401);
    // Pruning skips the sessions that the write of an activity has locked.
    await app.nest.get(Activity).flush();
    app.clock.advance(31 * DAY);
    expect(await app.pruning.prune()).toMatchObject({ endedSessions: 1, sessions: 0 });
    app.clock.advance(91 * DAY);
    expect(await app.pruning.prune()).toMatchObject({ sessions: 2 });
    await admin.destroy();
  });
});
