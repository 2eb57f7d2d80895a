import { Activity } from '../../libs/auth/src/sessions/activity';
import { MINUTE } from '../support/driven-clock';
import { describeOnEachDatabase, describeOnEachServer } from '../support/environment';
import type { TestApplication } from '../support/test-application';

async function activityOf(app: TestApplication, sessionId: string): Promise<number> {
  const [row] = await app.dataSource.query(
    `SELECT last_activity - created_at AS since FROM auth_sessions WHERE id = '${sessionId}'`,
  );
  return Number(row.since);
}

/** Polls, because activity is written after the response. */
async function expectEventually(expected: number, read: () => Promise<number>): Promise<void> {
  for (let i = 0; i < 200 && (await read()) !== expected; i++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await read()).toBe(expected);
}

describeOnEachDatabase('the activity of sessions', {}, ({ app, tap }) => {
  it('the activity of many sessions is written in a few statements, once per interval', async () => {
    const [id, activity] = [await app.userId(), app.nest.get(Activity)];
    const tokens: string[] = [];
    for (let i = 0; i < 120; i++) tokens.push((await app.auth.openSession(id)).accessToken);
    app.clock.advance(2 * MINUTE);
    let updates = 0;
    tap.hook = {
      before: ({ sql }) => {
        if (/^UPDATE .?auth_sessions/.test(sql)) updates++;
      },
    };
    const useAll = () => Promise.all(tokens.map((token) => app.auth.authenticate(token)));
    await useAll();
    await activity.flush();
    const rows = await app.dataSource.query('SELECT DISTINCT last_activity - created_at AS since FROM auth_sessions');
    expect(rows.map(({ since }: { since: unknown }) => Number(since))).toEqual([2 * MINUTE]);
    expect(updates).toBeLessThanOrEqual(4);
    const before = updates;
    app.clock.advance(MINUTE - 1);
    await useAll();
    await activity.beforeApplicationShutdown();
    expect(updates).toBe(before);
  });
});

describeOnEachServer('the activity of a locked session', {}, ({ app }) => {
  it('a locked session does not delay the activity of other sessions', async () => {
    const [first, second] = [await app.login(), await app.login('bob')];
    app.clock.advance(2 * MINUTE);
    const locker = app.dataSource.createQueryRunner();
    await locker.startTransaction();
    await locker.query(`SELECT id FROM auth_sessions WHERE id = '${first.session_id}' FOR UPDATE`);
    await app.get('/me', first.access_token).expect(200);
    await app.get('/me', second.access_token).expect(200);
    await expectEventually(2 * MINUTE, () => activityOf(app, second.session_id));
    expect(await activityOf(app, first.session_id)).toBe(0);
    await locker.rollbackTransaction();
    await locker.release();
    await app.get('/me', first.access_token).expect(200);
    await expectEventually(2 * MINUTE, () => activityOf(app, first.session_id));
  });
});
