import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { AuthService, AuthSession, AuthUser } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import type { INestApplicationContext } from '@nestjs/common';
import type { DatabaseName } from '../databases';
import { times, timesAsync } from '../contenders/contender';
import { copyRow, newSalt } from './copy-rows';
import { SQL } from './sql';

const SESSIONS_PER_USER = 10;

/** The number of sessions that the library opens, so that their tokens are known. All other sessions are copies. */
const OPENED = 5_000;

/** The number of steps in which sessions are opened and copied, so that opened sessions are spread over the table. */
const STEPS = 10;

/** The estimated maximum of the stored bytes of a session, including indexes. */
const BYTES_PER_SESSION = 2_500;

/** Returns whether the disk has twice the space that the sessions need. */
export function hasDiskSpaceFor(sessions: number): boolean {
  const { bavail, bsize } = statfsSync(tmpdir());
  return bavail * bsize > 2 * BYTES_PER_SESSION * sessions;
}

export interface LiveSessions {
  /** Access tokens of some sessions, spread over the table. */
  readonly tokens: readonly string[];
  /** The average stored bytes per session, including indexes. */
  readonly bytesPerSession: number;
}

/** Fills an empty database with active sessions, ten per user. */
export async function fillSessions(
  app: INestApplicationContext,
  database: DatabaseName,
  sessions: number,
): Promise<LiveSessions> {
  const { uuid, divide, analyze, size } = SQL[database];
  const dataSource = app.get(DataSource);
  const perStep = (total: number): number => Math.floor(total / STEPS);
  const opened = perStep(Math.min(sessions, OPENED));
  const copied = perStep(sessions) - opened;
  const tokens: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    const users = await openSessions(app.get(AuthService), step, opened);
    tokens.push(...users.flatMap((user) => user.tokens));
    const salt = newSalt();
    const userOf = uuid(salt, divide('i - 1', SESSIONS_PER_USER));
    const { userId, sessionId } = users[0]!;
    await copyRow(dataSource, database, AuthUser, userId, {
      count: Math.ceil(copied / SESSIONS_PER_USER),
      values: { id: uuid(salt, 'i - 1') },
    });
    await copyRow(dataSource, database, AuthSession, sessionId, { count: copied, values: { userId: userOf } });
  }
  for (const statement of analyze(dataSource.entityMetadatas.map(({ tableName }) => tableName))) {
    await dataSource.query(statement);
  }
  const total = await dataSource.getRepository(AuthSession).count();
  const [stored] = await dataSource.query<{ bytes: string | number }[]>(
    size(dataSource.getMetadata(AuthSession).tableName),
  );
  return { tokens, bytesPerSession: Math.round(Number(stored?.bytes) / total) };
}

interface OpenedUser {
  readonly userId: string;
  readonly sessionId: string;
  readonly tokens: readonly string[];
}

async function openSessions(auth: AuthService, step: number, count: number): Promise<OpenedUser[]> {
  return timesAsync(Math.ceil(count / SESSIONS_PER_USER), async (index) => {
    const { id } = await auth.createUser({ username: `user ${step}-${index}`, password: null });
    const sessions = await Promise.all(
      times(Math.min(SESSIONS_PER_USER, count - index * SESSIONS_PER_USER), () => auth.openSession({ id })),
    );
    return {
      userId: String(id),
      sessionId: sessions[0]!.sessionId,
      tokens: sessions.map(({ accessToken }) => accessToken),
    };
  });
}
