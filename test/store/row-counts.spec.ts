import { createDatabase, DATABASES, type DatabaseName } from '../support/databases';
import { SECOND } from '../support/driven-clock';
import { Host } from '../support/host';

/** A commit takes longer on a server. */
const REFRESHES: Readonly<Record<DatabaseName, number>> = { sqlite: 10_000, postgres: 2_000, mariadb: 1_000 };

/** How many rows each table of the library has, the history aside. */
async function rowCounts(host: Host): Promise<Record<string, number>> {
  const tables = host.dataSource.entityMetadatas.map(({ tableName }) => tableName);
  const counts: Record<string, number> = {};
  for (const table of tables.filter((name) => name.startsWith('auth_') && name !== 'auth_events')) {
    const [row] = await host.dataSource.query(`SELECT COUNT(*) AS n FROM ${table}`);
    counts[table] = Number(row.n);
  }
  return counts;
}

describe.each(DATABASES)('refreshes on %s', (name) => {
  it.each([{ refreshReuseGraceSeconds: 0 }, { refreshReuseGraceSeconds: 10 }])(
    'add no rows but events: %j',
    async (auth) => {
      const database = await createDatabase(name);
      // None of the refreshes is trimmed.
      const host = await Host.start({ database, auth: { ...auth, history: { maxRowsPerUser: 100_000 } } });
      let { refresh_token: token } = await host.login();
      const before = await rowCounts(host);
      expect(before).toMatchObject({ auth_sessions: 1, auth_users: 2 });
      for (let i = 0; i < REFRESHES[name]; i++) {
        host.clock.advance(SECOND);
        ({ refreshToken: token } = await host.auth.refresh(token));
      }
      expect(await rowCounts(host)).toEqual(before);
      const [{ n }] = await host.dataSource.query(
        `SELECT COUNT(*) AS n FROM auth_events WHERE event = 'token_refresh'`,
      );
      expect(Number(n)).toBe(REFRESHES[name]);
      await host.close();
      await database.drop();
    },
    180_000,
  );
});
