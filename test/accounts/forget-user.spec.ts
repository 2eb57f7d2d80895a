import { AuthEvent, AuthSession } from 'nestjs-session-auth';
import { withEndedSessions } from '../support/ended-sessions';
import { describeOnEachDatabase, userIdOf } from '../support/environment';
import { many, writeEvents } from '../support/rows';

describeOnEachDatabase('forgetting a user with many rows', {}, ({ app, tap }) => {
  it('forgetUser() deletes ended sessions in batches, after the active sessions and the reset tokens', async () => {
    const { active } = await withEndedSessions(app, 1_200);
    const alice = await userIdOf(app);
    await writeEvents(app, alice, many('logout', 1_100));
    const deleted: string[] = [];
    tap.hook.before = ({ sql }) => {
      const [, table] = /^DELETE FROM \W?auth_(\w+)/.exec(sql) ?? [];
      if (table) deleted.push(sql.includes('LIMIT 500') ? `${table} in batches` : table);
    };
    await app.auth.forgetUser(alice);
    tap.hook = {};
    // The active session and the reset tokens, then batches of 500 rows, then the rest of each table.
    expect(deleted.filter((statement) => !statement.startsWith('login_failures'))).toEqual([
      ...['sessions', 'api_keys', 'login_tickets', 'password_resets'],
      ...Array<string>(3).fill('sessions in batches'),
      ...Array<string>(3).fill('events in batches'),
      ...['api_keys', 'sessions', 'events', 'password_resets', 'login_tickets', 'user_locks'],
    ]);
    expect(await app.dataSource.getRepository(AuthSession).count()).toBe(0);
    expect(await app.dataSource.getRepository(AuthEvent).count()).toBe(0);
    expect(app.sent('user_logged_out').filter(({ session }) => session.id === active)).toMatchObject([
      { reason: 'user_deleted' },
    ]);
  });

  it('a second forgetUser() deletes the ended sessions if the first call failed after it deleted the active session', async () => {
    const { active } = await withEndedSessions(app, 600);
    const alice = await userIdOf(app);
    tap.hook.before = ({ sql }) => {
      if (/^DELETE FROM \W?auth_sessions.*LIMIT 500/s.test(sql)) throw new Error('away');
    };
    await expect(app.auth.forgetUser(alice)).rejects.toMatchObject({ code: 'database_unavailable' });
    tap.hook = {};
    const ends = (): unknown[] => app.sent('user_logged_out').filter(({ session }) => session.id === active);
    expect(ends()).toHaveLength(1);
    await app.auth.forgetUser(alice);
    expect(ends()).toHaveLength(1);
    expect(await app.dataSource.getRepository(AuthSession).count()).toBe(0);
  });
});
