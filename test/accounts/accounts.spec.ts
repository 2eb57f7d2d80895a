import { AuthEvent } from 'nestjs-session-auth';
import { Users } from '../../libs/auth/src/users/users';
import { PASSWORD } from '../support/test-application';
import {
  historyOf,
  INVALID_CREDENTIALS,
  INVALID_REFRESH,
  describeOnEachDatabase,
  userIdOf,
} from '../support/environment';

const NEW_PASSWORD = 'a password that is new';

describeOnEachDatabase('accounts', {}, ({ app }) => {
  it('disabling an account ends its sessions immediately and refuses its logins, and enabling the account restores no session', async () => {
    const session = await app.login();
    const id = await userIdOf(app);
    for (let time = 0; time < 2; time++) await app.auth.disableUser(id, { ipAddress: '192.0.2.7' });
    await app.get('/me', session.access_token).expect(401);
    await app.refresh(session.refresh_token).expect(400, INVALID_REFRESH);
    const credentials = { username: 'alice', password: PASSWORD };
    await app.http.post('/auth/login').send(credentials).expect(400, INVALID_CREDENTIALS);
    expect(app.sent('user_logged_out')).toMatchObject([{ userId: id, reason: 'user_disabled' }]);
    await app.auth.enableUser(id);
    await app.get('/me', session.access_token).expect(401);
    const { access_token: token } = await app.login();
    const [, , forced] = await historyOf(app, token);
    expect(forced).toMatchObject({
      event: 'forced_logout',
      ip_address: '192.0.2.7',
      extra: { session_id: session.session_id, reason: 'user_disabled' },
    });
  });

  it('forgetting a user deletes all rows of the user outside the users table, and no row of other users', async () => {
    const session = await app.login();
    await app.refresh(session.refresh_token).expect(200);
    await app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    const bob = await app.login('bob');
    const id = await userIdOf(app);
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
});

describeOnEachDatabase('the data of a user', {}, ({ app }) => {
  it('the export contains all sessions and events of the user only, and no secret', async () => {
    const [ended, active] = [await app.login(), await app.login()];
    await app.login('bob');
    await app.post('/auth/logout', ended.access_token).expect(200);
    const id = await userIdOf(app);
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
});

describeOnEachDatabase('ids of users', {}, ({ app }) => {
  // MariaDB compares text with the number 0 as equal if the text does not begin with a number.
  it.each([0, 0n, '', '0', ' ', null, NaN])(
    'no user is found for the id %p, even if the database would convert the id to that of a user',
    async (given) => {
      const { access_token: token } = await app.login();
      await app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
      const id = given as number;
      for (const method of ['openSession', 'disableUser', 'enableUser', 'createPasswordResetToken'] as const) {
        await expect(app.auth[method](id)).rejects.toMatchObject({ code: 'unknown_user' });
      }
      await expect(app.auth.openSession({ id })).rejects.toMatchObject({ code: 'unknown_user' });
      await expect(app.auth.resetPassword(id, NEW_PASSWORD)).rejects.toMatchObject({ code: 'unknown_user' });
      await app.auth.forgetUser(id);
      const users = app.nest.get(Users);
      expect(await users.setActive(id, false, null)).toBe(false);
      expect(await users.setHash(id, 'x')).toBe(false);
      expect([await users.findById(id, null), await users.load(id)]).toEqual([null, null]);
      expect(await app.auth.listSessions(id)).toEqual([]);
      expect(await app.dataSource.query('SELECT * FROM auth_login_failures')).not.toEqual([]);
      await app.get('/me', token).expect(200);
      await app.login('bob');
    },
  );

  it('an id in upper case is unknown', async () => {
    const id = (await userIdOf(app)).toUpperCase();
    await expect(app.auth.openSession(id)).rejects.toMatchObject({ code: 'unknown_user' });
  });
});
