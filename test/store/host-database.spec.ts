import { AUTH_ENTITIES, AUTH_MIGRATIONS, AuthUser } from 'nestjs-session-auth';
import { DataSource, DefaultNamingStrategy, type DataSourceOptions } from 'typeorm';
import { DAY } from '../support/driven-clock';
import { createDatabase, DATABASES, describeEachPooled } from '../support/databases';
import { Host, PASSWORD } from '../support/host';

class PrefixedNames extends DefaultNamingStrategy {
  override columnName(property: string, custom: string | undefined, prefixes: string[]): string {
    return `c_${super.columnName(property, custom as string, prefixes)}`;
  }
}

/** Some of every kind of statement. */
async function runSomeOfEverything(host: Host): Promise<void> {
  const [first, second] = [await host.login(), await host.login()];
  await host.get('/me', first.access_token).expect(200);
  const pair = (await host.refresh(first.refresh_token).expect(200)).body;
  expect((await host.get('/auth/sessions', pair.access_token).expect(200)).body).toHaveLength(2);
  const change = { current_password: PASSWORD, new_password: 'a password that is new' };
  const changed = (await host.post('/auth/password/change', pair.access_token, change).expect(200)).body;
  await host.get('/me', second.access_token).expect(401);
  // The token family of before the password change is revoked: its tokens are refused, and are not reuse.
  await host.refresh(first.refresh_token).expect(400);
  expect(host.sent('token_reuse_detected')).toEqual([]);
  await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
  expect((await host.get('/auth/history', changed.access_token).expect(200)).body.length).toBeGreaterThan(4);
  await host.refresh(changed.refresh_token).expect(200);
  await host.refresh(changed.refresh_token).expect(400);
  expect(host.sent('token_reuse_detected')).toHaveLength(1);
  await host.get('/me', changed.access_token).expect(401);
  await host.login('bob');
  host.clock.advance(31 * DAY);
  expect(await host.pruning.prune()).toMatchObject({ endedSessions: 1, sessions: 0 });
}

describe.each(DATABASES)("the application's settings of %s", (name) => {
  const settings: [string, object][] = [
    ['an entity prefix', { entityPrefix: 'app_' }],
    ['a naming strategy', { namingStrategy: new PrefixedNames() }],
    ...(name === 'postgres' ? ([['a schema', { schema: 'elsewhere' }]] as [string, object][]) : []),
  ];

  it.each(settings)('are respected: %s', async (_, setting) => {
    const database = await createDatabase(name);
    const options = { ...database.options, ...setting };
    if ('schema' in setting) {
      const admin = await new DataSource(database.options).initialize();
      await admin.query('CREATE SCHEMA elsewhere');
      await admin.destroy();
    }
    const host = await Host.start({ database: { ...database, options } });
    await runSomeOfEverything(host);
    await host.close();
    await database.drop();
  });
});

describeEachPooled('a DataSource with a replica on %s', (name) => {
  it('is read on its primary alone: a replica may lag behind a revocation', async () => {
    const [primary, replica] = [await createDatabase(name), await createDatabase(name)];
    const urlOf = ({ options }: typeof primary): string => (options as { url: string }).url;
    // A replica that lags behind: it has the tables, and no rows.
    const migrated = { ...replica.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
    const lagging = await new DataSource(migrated).initialize();
    await lagging.runMigrations();
    const { type } = primary.options;
    const replication = { master: { url: urlOf(primary) }, slaves: [{ url: urlOf(replica) }] };
    const host = await Host.start({ database: { ...primary, options: { type, replication } as DataSourceOptions } });
    expect(await host.dataSource.getRepository(AuthUser).count()).toBe(0);
    await runSomeOfEverything(host);
    expect(await lagging.query('SELECT * FROM auth_sessions')).toEqual([]);
    await lagging.destroy();
    await host.close();
    await replica.drop();
    await primary.drop();
  });
});
