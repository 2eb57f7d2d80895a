import { AuthSession } from 'nestjs-session-auth';
import type { TestApplication } from './test-application';

/** Gives alice an active session and the given number of ended sessions, the oldest first. */
export async function withEndedSessions(
  app: TestApplication,
  times: number,
): Promise<{ readonly active: string; readonly ended: readonly string[] }> {
  const session = await app.login();
  await app.post('/auth/logout', session.access_token).expect(200);
  const { session_id: active } = await app.login();
  return { active, ended: [...(await copyEnded(app, session.session_id, times - 1)), session.session_id] };
}

/** Copies an ended session the given number of times, and returns the ids. The first copy is the oldest. */
async function copyEnded(app: TestApplication, id: string, times: number): Promise<string[]> {
  const sessions = app.dataSource.getRepository(AuthSession);
  const row = await sessions.findOneByOrFail({ id });
  // Inserts the copies in an order that differs from their age.
  const idAt = (i: number): string => `${String((i * 7_919) % 10_000).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const copies = Array.from({ length: times }, (_, i) => ({
    ...row,
    id: idAt(i),
    createdAt: Number(row.createdAt) - times + i,
  }));
  for (let i = 0; i < times; i += 200) await sessions.insert(copies.slice(i, i + 200));
  return copies.map((copy) => copy.id);
}
