import { AUTH_ENTITIES, AUTH_MIGRATIONS, type OpenedSession } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase, describeOn, type DatabaseName } from '../support/databases';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { MINUTE } from '../support/driven-clock';
import { TestApplication } from '../support/test-application';

const SESSIONS = 200;
const ROUNDS = 10;

async function updatesOf(observer: DataSource): Promise<{ all: number; hot: number }> {
  const [row] = await observer.query(
    `SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables WHERE relname = 'auth_sessions'`,
  );
  return { all: Number(row.all), hot: Number(row.hot) };
}

/**
 * PostgreSQL reuses the space of an old row version only when no transaction of the server can still see it, and a
 * transaction in another database counts as well. Tests that run at the same time hold such transactions.
 */
async function waitForOtherTransactions(observer: DataSource): Promise<void> {
  const open = `SELECT 1 FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND xact_start < now() - interval '1 second'`;
  for (let tries = 0; tries < 300 && (await observer.query<unknown[]>(open)).length > 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Returns the share of HOT updates in a mix of refreshes and activity, from 0 to 1. */
async function measureHotShare(name: DatabaseName, auth: { refreshReuseGraceSeconds: number }): Promise<number> {
  const database = await createDatabase(name);
  const migrated = { ...database.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
  const observer = await new DataSource(migrated).initialize();
  await observer.runMigrations();
  const app = await TestApplication.start({ database, users: [], auth });
  const user = await app.auth.createUser({ username: 'alice', password: null });
  const sessions: OpenedSession[] = [];
  for (let i = 0; i < SESSIONS; i++) sessions.push({ ...(await app.auth.openSession(user)) });
  await waitForOtherTransactions(observer);
  for (let round = 0; round < ROUNDS; round++) {
    app.clock.advance(2 * MINUTE);
    await Promise.all(
      sessions.map(async (session, i) => {
        // Half of the sessions are refreshed in each round, and all of them are used.
        if (i % 2 === round % 2) Object.assign(session, await app.auth.refresh(session.refreshToken));
        expect(await app.auth.authenticate(session.accessToken)).not.toBeNull();
      }),
    );
    await app.nest.get(Activity).flush();
  }
  // PostgreSQL reports the statistics of a connection no later than when the connection ends.
  await app.close();
  const refreshes = (SESSIONS / 2) * ROUNDS;
  let updates = await updatesOf(observer);
  for (let tries = 0; updates.all < 2 * refreshes && tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    updates = await updatesOf(observer);
  }
  // A refresh also writes activity. The activity of the other half of the sessions requires separate updates.
  expect(updates.all).toBeGreaterThanOrEqual(2 * refreshes);
  await observer.destroy();
  await database.drop();
  return updates.hot / updates.all;
}

describeOn('postgres')('updates of auth_sessions on postgres', (name) => {
  it.each([{ refreshReuseGraceSeconds: 0 }, { refreshReuseGraceSeconds: 10 }])(
    'at least 95 percent of the updates in a mix of refreshes and activity are HOT, with the options %j',
    async (auth) => {
      // An update of an indexed column is never HOT. Transactions of other tests may prevent HOT in some attempts.
      let share = 0;
      for (let attempt = 0; attempt < 8 && share < 0.95; attempt++) share = await measureHotShare(name, auth);
      expect(share).toBeGreaterThanOrEqual(0.95);
    },
    300_000,
  );
});
