import { AUTH_ENTITIES, AUTH_MIGRATIONS, AuthUser } from 'nestjs-session-auth';
import { DataSource, DefaultNamingStrategy, type DataSourceOptions } from 'typeorm';
import { DAY } from '../support/driven-clock';
import { createDatabase, DATABASES, describeEachPooled, DIALECTS } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';

class PrefixedNames extends DefaultNamingStrategy {
  override columnName(property: string, custom: string | undefined, prefixes: string[]): string {
    return `c_${super.columnName(property, custom as string, prefixes)}`;
  }
}

/** Runs at least one statement of each kind. */
async function runEachKindOfStatement(app: TestApplication): Promise<void> {
  const [first, second] = [await app.login(), await app.login()];
  await app.get('/me', first.access_token).expect(200);
  const pair = (await app.refresh(first.refresh_token).expect(200)).body;
  expect((await app.get('/auth/sessions', pair.access_token).expect(200)).body).toHaveLength(2);
  const change = { current_password: PASSWORD, new_password: 'a password that is new' };
  const changed = (await app.post('/auth/password/change', pair.access_token, change).expect(200)).body;
  await app.get('/me', second.access_token).expect(401);
  // The password change revoked the previous token family, so its tokens are refused without counting as reuse.
  await app.refresh(first.refresh_token).expect(400);
  expect(app.sent('token_reuse_detected')).toEqual([]);
  await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(400);
  expect((await app.get('/auth/history', changed.access_token).expect(200)).body.length).toBeGreaterThan(4);
  await app.refresh(changed.refresh_token).expect(200);
  await app.refresh(changed.refresh_token).expect(400);
  expect(app.sent('token_reuse_detected')).toHaveLength(1);
  await app.get('/me', changed.access_token).expect(401);
  await app.login('bob');
  app.clock.advance(31 * DAY);
  expect(await app.pruning.prune()).toMatchObject({ endedSessions: 1, sessions: 0 });
}

describe.each(DATABASES)("the library with the application's settings on %s", (name) => {
  const settings: [string, object][] = [
    ['an entity prefix', { entityPrefix: 'app_' }],
    ['a naming strategy', { namingStrategy: new PrefixedNames() }],
    ...(DIALECTS[name] === 'postgres' ? ([['a schema', { schema: 'elsewhere' }]] as [string, object][]) : []),
  ];

  it.each(settings)('the library works if the DataSource has %s', async (_, setting) => {
    const database = await createDatabase(name);
    const options = { ...database.options, ...setting };
    if ('schema' in setting) {
      const admin = await new DataSource(database.options).initialize();
      await admin.query('CREATE SCHEMA elsewhere');
      await admin.destroy();
    }
    const app = await TestApplication.start({ database: { ...database, options } });
    await runEachKindOfStatement(app);
    await app.close();
    await database.drop();
  });
});

describeEachPooled('a DataSource with read replicas on %s', (name) => {
  it('all reads go to the primary, because a replica may lag behind a revocation', async () => {
    const [primary, replica] = [await createDatabase(name), await createDatabase(name)];
    const urlOf = ({ options }: typeof primary): string => (options as { url: string }).url;
    // This replica lags behind: it contains the tables, but no rows.
    const migrated = { ...replica.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
    const lagging = await new DataSource(migrated).initialize();
    await lagging.runMigrations();
    const { type } = primary.options;
    const replication = { master: { url: urlOf(primary) }, slaves: [{ url: urlOf(replica) }] };
    const app = await TestApplication.start({
      database: { ...primary, options: { type, replication } as DataSourceOptions },
    });
    expect(await app.dataSource.getRepository(AuthUser).count()).toBe(0);
    await runEachKindOfStatement(app);
    expect(await lagging.query('SELECT * FROM auth_sessions')).toEqual([]);
    await lagging.destroy();
    await app.close();
    await replica.drop();
    await primary.drop();
  });
});
