import { AuthSession } from 'nestjs-session-auth';
import { insertRows } from './rows';
import type { TestApplication } from './test-application';

/** Gives alice an active session and the given number of ended sessions, the oldest first. */
export async function withEndedSessions(
  app: TestApplication,
  times: number,
): Promise<{ readonly active: string; readonly ended: readonly string[] }> {
  const { session_id: latest, access_token: token } = await app.login();
  await app.post('/auth/logout', token).expect(200);
  const { session_id: active } = await app.login();
  const row = await app.storedSession(latest);
  // Inserts the others in an order that differs from their age.
  const idAt = (i: number): string => `${String((i * 7_919) % 10_000).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const others = Array.from({ length: times - 1 }, (_, i) => ({
    ...row,
    id: idAt(i),
    createdAt: Number(row.createdAt) - times + i,
  }));
  await insertRows(app, AuthSession, others);
  return { active, ended: [...others.map(({ id }) => id), latest] };
}
