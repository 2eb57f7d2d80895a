import { DATABASES, type Dialect, DIALECTS } from '../support/databases';
import { DAY } from '../support/driven-clock';
import { startForTest } from '../support/start-for-test';
import type { TestApplication } from '../support/test-application';

const ROWS = { sessions: 20_000, events: 80_000 };

/** The SQL of each database for a series of numbers from 1 and for a padded number after a letter. */
interface Sql {
  readonly numbers: (count: number) => string;
  readonly text: (letter: string, length: number) => string;
}

const SQL: Record<Dialect, Sql> = {
  sqlite: {
    numbers: (count) =>
      `(WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${count}) SELECT i FROM c) n`,
    text: (letter, length) => `'${letter}' || printf('%0${length - 1}d', i)`,
  },
  postgres: {
    numbers: (count) => `(SELECT i FROM generate_series(1, ${count}) i) n`,
    text: (letter, length) => `'${letter}' || lpad(i::text, ${length - 1}, '0')`,
  },
  mysql: {
    // The default of cte_max_recursion_depth on MySQL allows 1,000 rows, so the query joins two series of 1,000.
    numbers: (count) =>
      `(WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 999)
        SELECT 1000 * thousands.i + units.i + 1 AS i FROM c thousands JOIN c units ON thousands.i < ${count / 1000}) n`,
    text: (letter, length) => `CONCAT('${letter}', LPAD(i, ${length - 1}, '0'))`,
  },
};

/** Inserts rows that pruning removes at the given instant. */
async function fill(app: TestApplication, { numbers, text }: Sql, now: number): Promise<void> {
  const run = (statement: string): Promise<unknown> => app.dataSource.query(statement);
  await run(
    `INSERT INTO auth_sessions (id, user_id, state, check_at, login_network, device_type, os_family, browser_family,
       device_name, created_at, authenticated_at, last_activity, idle_expires_at, absolute_expires_at, access_digest,
       access_expires_at, refresh_digest, refresh_expires_at, family_digest, generation, replay_count, methods, remembered, persistent)
     SELECT ${text('s', 36)}, ${text('u', 20)}, 'expired', ${now}, '', 'other', 'Other', 'Other', 'Other', 0, 0, 0, 0, 0,
       ${text('a', 64)}, 0, ${text('r', 64)}, 0, ${text('f', 64)}, 0, 0, '{}', FALSE, FALSE
     FROM ${numbers(ROWS.sessions)}`,
  );
  await run(
    `INSERT INTO auth_events (id, user_id, event, user_agent, extra, occurred_at)
     SELECT i, ${text('u', 20)}, 'token_refresh', '', '{}', ${now - 91 * DAY} FROM ${numbers(ROWS.events)}`,
  );
}

describe.each(DATABASES)('pruning under load on %s', (name) => {
  it('100,000 rows are deleted while guarded requests and refreshes are served', async () => {
    // With the default, pruning would also remove events of this client, because the client refreshes very often.
    const app = await startForTest(name, { auth: { history: { maxRowsPerUser: 1_000_000 } } });
    await fill(app, SQL[DIALECTS[name]], app.clock.now());
    let pair = await app.login();
    let pruning = true;
    const served: number[] = [];
    const report = app.pruning.prune().finally(() => (pruning = false));
    while (pruning) {
      served.push((await app.get('/me', pair.access_token)).status);
      const { status, body } = await app.refresh(pair.refresh_token);
      served.push(status);
      pair = { ...pair, ...body };
    }
    expect(await report).toMatchObject(ROWS);
    expect(served.length).toBeGreaterThan(20);
    expect([...new Set(served)]).toEqual([200]);
    await app.get('/me', pair.access_token).expect(200);
  });
});
