import { DataSource } from 'typeorm';
import { AUTH_ENTITIES, AUTH_MIGRATIONS } from 'nestjs-session-auth';
import { blocksOf } from '../docs/code-blocks';
import { createDatabase, describeOn } from '../support/databases';
import { DAY, MINUTE } from '../support/driven-clock';
import { Host } from '../support/host';

/** All SQL of the guide. */
const statements = blocksOf('docs/scaling.md')
  .filter(({ language }) => language === 'sql')
  .flatMap(({ code }) => code.replace(/^ *--.*$/gm, '').split(/;\s*$/m))
  .filter((statement) => statement.trim());

describeOn('postgres')('tables that are partitioned as docs/scaling.md says', () => {
  it('serve the library unchanged, with the rows that they had before', async () => {
    const database = await createDatabase('postgres');
    const migrated = { ...database.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
    const admin = await new DataSource({ ...migrated, synchronize: false }).initialize();
    await admin.runMigrations();
    const before = await Host.start({ database: { ...database, options: { ...migrated, synchronize: false } } });
    const kept = await before.login();
    const used = kept.refresh_token;
    const { refresh_token: live } = (await before.refresh(used).expect(200)).body as { refresh_token: string };
    await before.close();

    expect(statements.length).toBeGreaterThan(8);
    for (const statement of statements) await admin.query(statement);

    const partitions = await admin.query<{ parent: string }[]>(
      'SELECT inhparent::regclass::text AS parent FROM pg_inherits ORDER BY 1',
    );
    expect(new Set(partitions.map(({ parent }) => parent))).toContain('auth_events');
    expect(new Set(partitions.map(({ parent }) => parent))).toContain('auth_sessions');
    const host = await Host.start({
      database: { ...database, options: { ...migrated, synchronize: false } },
      users: [],
    });
    // Within a millisecond the event ids of two instances are in no order.
    host.clock.advance(1_000);
    const pair = (await host.refresh(live).expect(200)).body as { access_token: string };
    const bob = await host.login('bob');
    host.clock.advance(2 * MINUTE);
    await host.get('/me', bob.access_token).expect(200);
    expect((await host.get('/auth/sessions', bob.access_token).expect(200)).body).toHaveLength(1);
    const history = (await host.get('/auth/history', pair.access_token).expect(200)).body as { event: string }[];
    expect(history.map(({ event }) => event)).toEqual(['token_refresh', 'token_refresh', 'login_success']);
    await host.refresh(used).expect(400);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    await host.get('/me', pair.access_token).expect(401);
    host.clock.advance(31 * DAY);
    expect(await host.pruning.prune()).toMatchObject({ endedSessions: 1, sessions: 0 });
    host.clock.advance(91 * DAY);
    expect(await host.pruning.prune()).toMatchObject({ sessions: 2 });
    await host.close();
    await admin.destroy();
    await database.drop();
  });
});
