import { AuthEvent, AuthSession } from 'nestjs-session-auth';
import { withEndedSessions } from '../support/ended-sessions';
import { describeOnEachDatabase } from '../support/environment';
import { many, writeEvents } from '../support/rows';

describeOnEachDatabase('accounts', {}, ({ app, tap }) => {
  it('disabling an account ends its sessions immediately and refuses its logins, and enabling the account restores no session', async () => {
    const session = await app.login();
    const id = await app.userId();
    for (let time = 0; time < 2; time++) await app.auth.disableUser(id, { ipAddress: '192.0.2.7' });
    await app.expectRevoked(session);
    await expect(app.login()).rejects.toThrow('login: 400');
    expect(app.sent('user_logged_out')).toMatchObject([{ userId: id, reason: 'user_disabled' }]);
    await app.auth.enableUser(id);
    await app.get('/me', session.access_token).expect(401);
    const { access_token: token } = await app.login();
    const [, , forced] = await app.history(token);
    expect(forced).toMatchObject({
      event: 'forced_logout',
      ip_address: '192.0.2.7',
      extra: { session_id: session.session_id, reason: 'user_disabled' },
    });
  });

  it('forgetting a user deletes all rows of the user outside the users table, and no row of other users', async () => {
    const session = await app.login();
    await app.refresh(session.refresh_token).expect(200);
    await app.failLogin();
    const bob = await app.login('bob');
    const id = await app.userId();
    await app.auth.createPasswordResetToken(id);
    const ticket = await app.auth.createLoginTicket(id, { methods: ['hwk'] });
    await app.auth.attempt({ ticket, method: 'otp' }, {}, () => false);
    await app.auth.forgetUser(id);
    const tables = ['sessions', 'events', 'login_failures', 'password_resets', 'login_tickets', 'user_locks'];
    const rows = await Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM auth_${table}`)));
    const left = JSON.stringify(rows);
    expect(left).not.toContain(id);
    expect(left).not.toContain(session.session_id);
    expect(rows.map((found: unknown[]) => found.length)).toEqual([1, 1, 0, 0, 0, 1]);
    expect(app.sent('user_logged_out')).toMatchObject([{ userId: id, reason: 'user_deleted' }]);
    await app.refresh(session.refresh_token).expect(400);
    await app.get('/me', bob.access_token).expect(200);
    await app.login();
  });

  it('the export contains all sessions and events of the user only, and no secret', async () => {
    const [ended, active] = [await app.login(), await app.login()];
    await app.login('bob');
    await app.post('/auth/logout', ended.access_token).expect(200);
    const id = await app.userId();
    const stored = await app.dataSource.getRepository(AuthEvent).findOneByOrFail({ event: 'logout' });
    const older = Array.from({ length: 600 }, (_, index) => ({ ...stored, id: index + 1, event: 'token_refresh' }));
    await app.dataSource.getRepository(AuthEvent).insert(older as object[]);
    const { sessions, events } = await app.auth.exportUserData(id);
    expect(sessions.map((one) => [one.id, one.state, one.endReason, one.endedAt !== null]).sort()).toEqual(
      [
        [active.session_id, 'active', null, false],
        [ended.session_id, 'logged_out', 'logout', true],
      ].sort(),
    );
    expect(events.slice(0, 3).map(({ event }) => event)).toEqual(['logout', 'login_success', 'login_success']);
    expect(events).toHaveLength(603);
    expect(JSON.stringify({ sessions, events })).not.toMatch(/digest|token":|hash/i);
    expect(await app.auth.exportUserData('nobody')).toEqual({ sessions: [], apiKeys: [], events: [] });
  });

  // MariaDB compares text with the number 0 as equal if the text does not begin with a number.
  it.each([0, 0n, '', '0', ' ', null, NaN])(
    'no user is found for the id %p, even if the database would convert the id to that of a user',
    async (given) => {
      const { access_token: token } = await app.login();
      await app.failLogin();
      const id = given as number;
      for (const method of ['openSession', 'disableUser', 'enableUser', 'createPasswordResetToken'] as const) {
        await expect(app.auth[method](id)).rejects.toMatchObject({ code: 'unknown_user' });
      }
      await expect(app.auth.openSession({ id })).rejects.toMatchObject({ code: 'unknown_user' });
      await expect(app.auth.resetPassword(id, 'a password that is new')).rejects.toMatchObject({
        code: 'unknown_user',
      });
      await app.auth.forgetUser(id);
      expect(await app.auth.loadUser({ ...(await app.principal(token)), userId: id })).toBeNull();
      expect(await app.auth.listSessions(id)).toEqual([]);
      expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).not.toEqual([]);
      await app.get('/me', token).expect(200);
      await app.login('bob');
    },
  );

  it('an id in upper case is unknown', async () => {
    const id = (await app.userId()).toUpperCase();
    await expect(app.auth.openSession(id)).rejects.toMatchObject({ code: 'unknown_user' });
  });

  it('forgetUser() deletes ended sessions in batches, after the active sessions and the reset tokens', async () => {
    const { active } = await withEndedSessions(app, 1_200);
    const alice = await app.userId();
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
    const alice = await app.userId();
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
