import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { eventKey, type Stored } from './state';

type Row = Readonly<Record<string, unknown>>;

/** The library's tables as they are. */
export interface Rows {
  readonly sessions: readonly Row[];
  readonly tokens: readonly Row[];
  readonly events: readonly Row[];
}

export async function readRows(dataSource: DataSource): Promise<Rows> {
  const read = (sql: string): Promise<Row[]> => dataSource.query<Row[]>(sql);
  return {
    sessions: await read('SELECT * FROM auth_sessions'),
    tokens: await read('SELECT * FROM auth_refresh_tokens'),
    events: await read('SELECT user_id, event, occurred_at, extra FROM auth_events'),
  };
}

export function storedOf({ sessions, events }: Rows): Stored {
  const states = new Map(sessions.map((row) => [String(row['id']), String(row['state'])]));
  return { states, events: events.map(keyOf) };
}

function keyOf(row: Row): string {
  const user = row['user_id'] as string | null;
  const extra = JSON.parse(String(row['extra'])) as Record<string, unknown>;
  return eventKey(user, String(row['event']), Number(row['occurred_at']), extra);
}

/** What the database has of a token. */
export function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
