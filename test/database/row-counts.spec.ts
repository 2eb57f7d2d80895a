import { createDatabase, DATABASES, type Dialect, DIALECTS } from '../support/databases';
import { SECOND } from '../support/driven-clock';
import { TestApplication } from '../support/test-application';

/** The number of refreshes by database. Database servers run fewer, because a commit takes longer there. */
const REFRESHES: Readonly<Record<Dialect, number>> = { sqlite: 10_000, postgres: 2_000, mysql: 1_000 };

/** Returns the number of rows of each table of the library except `auth_events`. */
async function rowCounts(app: TestApplication): Promise<Record<string, number>> {
  const tables = app.dataSource.entityMetadatas.map(({ tableName }) => tableName);
  const counts: Record<string, number> = {};
  for (const table of tables.filter((name) => name.startsWith('auth_') && name !== 'auth_events')) {
    const [row] = await app.dataSource.query(`SELECT COUNT(*) AS n FROM ${table}`);
    counts[table] = Number(row.n);
  }
  return counts;
}

describe.each(DATABASES)('refreshes on %s', (name) => {
  it.each([{ refreshReuseGraceSeconds: 0 }, { refreshReuseGraceSeconds: 10 }])(
    'refreshes insert no rows except events, with the options %j',
    async (auth) => {
      const database = await createDatabase(name);
      const app = await TestApplication.start({ database, auth });
      let { refresh_token: token } = await app.login();
      const before = await rowCounts(app);
      expect(before).toMatchObject({ auth_sessions: 1, auth_users: 2 });
      for (let i = 0; i < REFRESHES[DIALECTS[name]]; i++) {
        app.clock.advance(SECOND);
        ({ refreshToken: token } = await app.auth.refresh(token));
      }
      expect(await rowCounts(app)).toEqual(before);
      const [{ n }] = await app.dataSource.query(`SELECT COUNT(*) AS n FROM auth_events WHERE event = 'token_refresh'`);
      expect(Number(n)).toBe(REFRESHES[DIALECTS[name]]);
      await app.close();
      await database.drop();
    },
    180_000,
  );
});
