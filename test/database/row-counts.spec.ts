import { DATABASES, type Dialect, DIALECTS } from '../support/databases';
import { SECOND } from '../support/driven-clock';
import { startForTest } from '../support/start-for-test';
import type { TestApplication } from '../support/test-application';

/** The number of refreshes by database. Database servers run fewer, because a commit takes longer there. */
const REFRESHES: Readonly<Record<Dialect, number>> = { sqlite: 10_000, postgres: 2_000, mysql: 1_000 };

async function countOf(app: TestApplication, rows: string): Promise<number> {
  return Number((await app.dataSource.query(`SELECT COUNT(*) AS n FROM ${rows}`))[0].n);
}

/** Returns the number of rows of each table of the library except `auth_events`. */
async function rowCounts(app: TestApplication): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { tableName } of app.dataSource.entityMetadatas) {
    if (tableName !== 'auth_events') counts[tableName] = await countOf(app, tableName);
  }
  return counts;
}

describe.each(DATABASES)('refreshes on %s', (name) => {
  it.each([{ refreshReuseGraceSeconds: 0 }, { refreshReuseGraceSeconds: 10 }])(
    'refreshes insert no rows except events, with the options %j',
    async (auth) => {
      const app = await startForTest(name, { auth });
      let { refresh_token: token } = await app.login();
      const before = await rowCounts(app);
      expect(before).toMatchObject({ auth_sessions: 1, auth_users: 2 });
      for (let i = 0; i < REFRESHES[DIALECTS[name]]; i++) {
        app.clock.advance(SECOND);
        ({ refreshToken: token } = await app.auth.refresh(token));
      }
      expect(await rowCounts(app)).toEqual(before);
      expect(await countOf(app, "auth_events WHERE event = 'token_refresh'")).toBe(REFRESHES[DIALECTS[name]]);
    },
    180_000,
  );
});
