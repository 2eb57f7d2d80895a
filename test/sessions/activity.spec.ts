import { Activity } from '../../libs/auth/src/sessions/activity';
import { MINUTE } from '../support/driven-clock';
import { describeOnEachDatabase, describeOnEachServer } from '../support/environment';

describeOnEachDatabase('the activity of sessions', {}, ({ app, tap }) => {
  it('the activity of many sessions is written in a few statements, once per interval', async () => {
    const [id, activity] = [await app.userId(), app.nest.get(Activity)];
    const tokens: string[] = [];
    for (let i = 0; i < 120; i++) tokens.push((await app.auth.openSession(id)).accessToken);
    app.clock.advance(2 * MINUTE);
    let updates = 0;
    tap.hook = { before: ({ sql }) => void (/^UPDATE .?auth_sessions/.test(sql) && updates++) };
    const useAll = () => Promise.all(tokens.map((token) => app.auth.authenticate(token)));
    await useAll();
    await activity.flush();
    const rows = await app.dataSource.query('SELECT DISTINCT last_activity AS at FROM auth_sessions');
    expect(rows.map(({ at }: { at: unknown }) => Number(at))).toEqual([app.clock.now()]);
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
    const activityOf = async ({ session_id: id }: typeof first) => (await app.storedSession(id)).lastActivity;
    const opened = await activityOf(first);
    app.clock.advance(2 * MINUTE);
    const locker = app.dataSource.createQueryRunner();
    await locker.startTransaction();
    await locker.query(`SELECT id FROM auth_sessions WHERE id = '${first.session_id}' FOR UPDATE`);
    await app.expectLive(first, second);
    // Activity is written after the response.
    while ((await activityOf(second)) !== app.clock.now()) await new Promise(setImmediate);
    expect(await activityOf(first)).toBe(opened);
    await locker.rollbackTransaction();
    await locker.release();
    await app.expectLive(first);
    while ((await activityOf(first)) !== app.clock.now()) await new Promise(setImmediate);
  });
});
