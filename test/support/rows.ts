import { AuthEvent, type AuthSession } from 'nestjs-session-auth';
import { firstEventIdAt } from '../../libs/auth/src/history/event-log';
import type { TestApplication } from './test-application';

/** Inserts rows, a few hundred with each statement. */
export async function insertRows(app: TestApplication, entity: new () => object, rows: object[]): Promise<void> {
  for (let i = 0; i < rows.length; i += 250) await app.dataSource.manager.insert(entity, rows.slice(i, i + 250));
}

/** Returns the row of a session, whose id, user and digests contain the number. */
export function sessionRow(i: number, values: Partial<AuthSession>): Partial<AuthSession> {
  const digest = (kind: string): string => kind + String(i).padStart(63, '0');
  return {
    id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    userId: `user-${i}`,
    state: 'active',
    ...{ ipAddress: null, deviceType: 'other', osFamily: 'Other', browserFamily: 'Other', deviceName: 'Other' },
    ...{ loginNetwork: '', createdAt: 0, authenticatedAt: 0, lastActivity: 0, checkAt: 0 },
    ...{ idleExpiresAt: 0, absoluteExpiresAt: 0, accessExpiresAt: 0, refreshExpiresAt: 0 },
    ...{ accessDigest: digest('a'), refreshDigest: digest('r'), familyDigest: digest('f') },
    ...{ generation: 0, replayCount: 0, methods: '{}', remembered: false, persistent: true },
    ...values,
  };
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
