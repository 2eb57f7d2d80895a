import { AuthEvent } from 'nestjs-session-auth';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import type { TestApplication } from './test-application';

/** Inserts rows, a few hundred with each statement. */
export async function insertRows(app: TestApplication, entity: new () => object, rows: object[]): Promise<void> {
  for (let i = 0; i < rows.length; i += 250) await app.dataSource.manager.insert(entity, rows.slice(i, i + 250));
}

/** Writes events of the given age to the log, oldest first. */
export async function writeEvents(
  app: TestApplication,
  userId: string | null,
  events: readonly string[],
  age = 0,
): Promise<void> {
  const rows = events.map((event, index) => {
    const occurredAt = app.clock.now() - age + index;
    return { id: firstEventIdAt(occurredAt), userId, event, ipAddress: null, userAgent: '', extra: {}, occurredAt };
  });
  await insertRows(app, AuthEvent, rows);
}

export const many = (event: string, times: number): string[] => Array<string>(times).fill(event);
