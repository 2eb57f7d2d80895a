import { createHash, randomBytes } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DataSource } from 'typeorm';
import { TOKEN_BYTES, writeToken } from '../../../libs/auth/src/domain/opaque-token';
import type { TestDatabase } from '../../../test/support/databases';
import { DAY_MS, times } from '../contenders/contender';
import { inChunks, SQL } from './sql';

/** Used refresh tokens of each session. */
const USED = 10;

/** Sessions of each user. */
const OF_ONE_USER = 10;

/** Sessions whose tokens are known, evenly spread. */
const KNOWN = 5_000;

/** What a session with its used tokens and their indexes takes, generously. */
const BYTES = 12_000;

/** Whether this machine's disk has room for so many sessions, and as much again. */
export function roomFor(sessions: number): boolean {
  const { bavail, bsize } = statfsSync(tmpdir());
  return bavail * bsize > 2 * BYTES * sessions;
}

export interface LiveSessions {
  /** The access tokens of some. */
  readonly tokens: readonly string[];
  /** What a session takes with its used tokens, indexes included. */
  readonly bytesOfOne: number;
}

/** Fills tables with live sessions of many users, by SQL. */
export async function fillSessions({ name, options }: TestDatabase, sessions: number): Promise<LiveSessions> {
  const { numbers, text, digest, by, analyze, size } = SQL[name];
  const dataSource = await new DataSource(options).initialize();
  const run = (statement: string): Promise<unknown> => dataSource.query(statement);
  const now = new Date().getTime();
  // Ahead of time: the next activity is not to be written while look-ups are measured.
  const seen = now + DAY_MS;
  const id = (number: string): string => text('s', number, 36);
  const userOf = (number: string): string => text('u', by(`${number} - 1`, OF_ONE_USER), 36);
  try {
    await inChunks(Math.ceil(sessions / OF_ONE_USER), (first, last) =>
      run(`INSERT INTO auth_users (id, username, username_key, password_hash, active, created_at)
           SELECT ${text('u', 'i - 1', 36)}, ${text('n', 'i', 20)}, ${digest('n')}, NULL, true, ${now}
           FROM ${numbers(first, last)}`),
    );
    // In the order of their keys, as an index takes them best; they are as random as digests are.
    await inChunks(sessions, (first, last) =>
      run(`INSERT INTO auth_sessions (id, user_id, state, network, device_type, os_family, browser_family, device_name,
             created_at, authenticated_at, last_activity, idle_expires_at, absolute_expires_at, access_digest,
             access_expires_at, refresh_digest, refresh_expires_at, generation)
           SELECT ${id('i')}, ${userOf('i')}, 'active', '', 'other', 'Other', 'Other', 'Other', ${now}, ${now}, ${seen},
             ${now + 7 * DAY_MS}, ${now + 30 * DAY_MS}, ${digest('a')} AS access_digest, ${now + DAY_MS}, ${digest('r')},
             ${now + 7 * DAY_MS}, ${USED} FROM ${numbers(first, last)} ORDER BY access_digest`),
    );
    await inChunks(sessions * USED, (first, last) =>
      run(`INSERT INTO auth_refresh_tokens (digest, session_id, generation, state, retired_at, expires_at)
           SELECT ${digest('t')} AS digest, ${id(by(`i + ${USED - 1}`, USED))}, i % ${USED}, 'used', ${now},
             ${now + 30 * DAY_MS} FROM ${numbers(first, last)} ORDER BY digest`),
    );
    await expectRows(dataSource, 'auth_sessions', sessions);
    await expectRows(dataSource, 'auth_refresh_tokens', sessions * USED);
    const known = Math.min(sessions, KNOWN);
    const tokens = times(known, () => writeToken('access', randomBytes(TOKEN_BYTES)));
    await dataSource.transaction(async (manager) => {
      for (const [index, token] of tokens.entries()) {
        const number = 1 + Math.floor((index * sessions) / known);
        const itsDigest = createHash('sha256').update(token).digest('hex');
        const itsId = `s${String(number).padStart(35, '0')}`;
        await manager.query(`UPDATE auth_sessions SET access_digest = '${itsDigest}' WHERE id = '${itsId}'`);
      }
    });
    for (const statement of analyze) await run(statement);
    const [taken] = await dataSource.query<{ bytes: string | number }[]>(size);
    return { tokens, bytesOfOne: Math.round(Number(taken?.bytes) / sessions) };
  } finally {
    await dataSource.destroy();
  }
}

async function expectRows(dataSource: DataSource, table: string, expected: number): Promise<void> {
  const [row] = await dataSource.query<{ rows_there: string | number }[]>(
    `SELECT count(*) AS rows_there FROM ${table}`,
  );
  if (Number(row?.rows_there) !== expected) throw new Error(`${table} has ${row?.rows_there} rows, not ${expected}.`);
}
