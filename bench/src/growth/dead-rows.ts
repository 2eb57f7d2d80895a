import { DataSource } from 'typeorm';
import type { TestDatabase } from '../../../test/support/databases';
import { DAY_MS } from '../contenders/contender';
import { inChunks, SQL } from './sql';

/** Fills tables with rows whose time is over: of ten, eight are refresh tokens, one is a session and one an event. */
export async function fillDeadRows({ name, options }: TestDatabase, rows: number): Promise<void> {
  const { numbers, text, digest, analyze } = SQL[name];
  const dataSource = await new DataSource(options).initialize();
  const run = (statement: string): Promise<unknown> => dataSource.query(statement);
  const over = new Date().getTime() - DAY_MS;
  const long = over - 90 * DAY_MS;
  try {
    await inChunks(Math.floor(rows * 0.8), (first, last) =>
      run(`INSERT INTO auth_refresh_tokens (digest, session_id, generation, state, retired_at, expires_at)
           SELECT ${digest('t')} AS digest, ${text('s', 'i', 36)}, 0, 'used', 0, ${over}
           FROM ${numbers(first, last)} ORDER BY digest`),
    );
    await inChunks(Math.floor(rows * 0.1), (first, last) =>
      run(`INSERT INTO auth_sessions (id, user_id, state, network, device_type, os_family, browser_family, device_name,
             created_at, authenticated_at, last_activity, idle_expires_at, absolute_expires_at, access_digest,
             access_expires_at, refresh_digest, refresh_expires_at, generation)
           SELECT ${text('s', 'i', 36)}, 'nobody', 'expired', '', 'other', 'Other', 'Other', 'Other', 0, 0, 0, 0,
             ${long}, ${digest('a')}, 0, ${digest('r')}, 0, 0 FROM ${numbers(first, last)}`),
    );
    await inChunks(Math.floor(rows * 0.1), (first, last) =>
      run(`INSERT INTO auth_events (id, user_id, event, user_agent, extra, occurred_at)
           SELECT i, 'nobody', 'token_refresh', '', '{}', ${long} FROM ${numbers(first, last)}`),
    );
    for (const statement of analyze) await run(statement);
  } finally {
    await dataSource.destroy();
  }
}
