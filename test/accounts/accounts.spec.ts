import { AuthEvent, AuthUser } from 'nestjs-session-auth';
import { Users } from '../../libs/auth/src/users/users';
import { SECOND } from '../support/driven-clock';
import { PASSWORD, type TestApplication } from '../support/test-application';
import {
  historyOf,
  INVALID_CREDENTIALS,
  INVALID_REFRESH,
  restorePassword,
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
    expect(await app.auth.exportUserData('nobody')).toEqual({ sessions: [], events: [] });
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

describeOnEachDatabase('names of new users', {}, ({ app }) => {
  // Control, zero-width, bidirectional, separating, filling and tag characters.
  it.each([
    ...['ali\u0000ce', 'ali\tce', 'alice\n', 'alice\u007f', 'alice\u0085', '\u200balice', 'ali\u200cce', 'ali\u200dce'],
    ...['ali\u00adce', 'alice\u2060', '\ufeffalice', '\u202ealice', 'alice\u200e', '\u2066alice\u2069', 'alice\u061c'],
    ...['ali\u2028ce', 'alice\u034f', 'alice\ufe0f', 'alice\u3164', 'alice\u{e0041}'],
  ])('a name cannot contain a character that is not displayed: %j', async (username) => {
    const refused = { code: 'invalid_field', fields: { username: [expect.any(String)] } };
    const user = { username, password: null };
    await expect(app.auth.createUser(user)).rejects.toMatchObject(refused);
    await app.dataSource.transaction((manager) =>
      expect(app.auth.inTransaction(manager).createUser(user)).rejects.toMatchObject(refused),
    );
  });

  it.each(['jos\u00e9', 'jose\u0301', '\u5f20\u4f1f', '\u0639\u0644\u064a', '\u05d3\u05d5\u05d3', 'a b', '\u{1f600}'])(
    'a name can contain letters and symbols of every script: %s',
    async (username) => {
      const { id } = await app.auth.createUser({ username, password: null });
      expect(await app.auth.openSession(id)).toMatchObject({ sessionId: expect.any(String), userId: id });
    },
  );
});

describeOnEachDatabase('password reset tokens', { auth: { passwordResetTtlSeconds: 600 } }, ({ app }) => {
  afterEach(() => restorePassword(app));

  const issue = async (): Promise<string> => {
    const { token } = await app.auth.createPasswordResetToken(await userIdOf(app));
    return token;
  };
  const redeem = (token: string, password = NEW_PASSWORD): Promise<void> =>
    app.auth.redeemPasswordResetToken(token, password);
  const refused = { code: 'invalid_reset_token' };

  it('a password reset token sets a password once, ends all sessions, and ends the delay of failed logins', async () => {
    const sessions = [await app.login(), await app.login()];
    for (let i = 0; i < 10; i++) await app.http.post('/auth/login').send({ username: 'alice', password: 'wrong' });
    const token = await issue();
    await redeem(token);
    for (const session of sessions) await app.get('/me', session.access_token).expect(401);
    await app.login('alice', NEW_PASSWORD);
    await expect(redeem(token, PASSWORD)).rejects.toMatchObject(refused);
    expect(app.sent('password_reset')).toEqual([{ userId: await userIdOf(app) }]);
    const ended = { reason: 'password_reset' };
    expect(app.sent('user_logged_out')).toMatchObject([ended, ended]);
  });

  it('a request for a password reset is recorded with the client that made it', async () => {
    const client = { ipAddress: '192.0.2.9', userAgent: 'curl/8' };
    await app.auth.createPasswordResetToken(await userIdOf(app), client);
    const { access_token: token } = await app.login();
    const entry = (await historyOf(app, token)).find(({ event }) => event === 'password_reset_requested');
    expect(entry).toMatchObject({ ip_address: '192.0.2.9', user_agent: 'curl/8', extra: {} });
  });

  it('a password reset token that is presented several times in parallel is redeemed once', async () => {
    const token = await issue();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => redeem(token)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('a password reset token expires after its lifetime, and is then pruned', async () => {
    const token = await issue();
    app.clock.advance(600 * SECOND);
    await expect(redeem(token)).rejects.toMatchObject(refused);
    expect(await app.pruning.prune()).toMatchObject({ passwordResets: 1 });
    const next = await issue();
    app.clock.advance(600 * SECOND - 1);
    await redeem(next);
  });

  it('a password reset token remains valid when the new password is refused', async () => {
    const token = await issue();
    await expect(redeem(token, 'short')).rejects.toMatchObject({ code: 'invalid_field' });
    await redeem(token);
  });

  it('a password reset token is revoked by a newer token and by a password change, and none is created for a disabled user', async () => {
    const first = await issue();
    const second = await issue();
    await expect(redeem(first)).rejects.toMatchObject(refused);
    const { access_token: token } = await app.login();
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    await app.post('/auth/password/change', token, change).expect(200);
    await expect(redeem(second)).rejects.toMatchObject(refused);
    const id = await userIdOf(app);
    await app.auth.disableUser(id);
    for (const unknown of [id, '00000000-0000-4000-8000-000000000000']) {
      await expect(app.auth.createPasswordResetToken(unknown)).rejects.toMatchObject({ code: 'unknown_user' });
    }
    await app.auth.enableUser(id);
  });

  it.each(['a request', 'its redemption', 'the creation of another token'])(
    "a password reset token is revoked once %s finds that the user is disabled in the application's table",
    async (noticing) => {
      const { access_token: access } = await app.login();
      const token = await issue();
      const id = await userIdOf(app);
      const users = app.dataSource.getRepository(AuthUser);
      await users.update({ id }, { active: false });
      if (noticing === 'a request') await app.get('/me', access).expect(401);
      else if (noticing !== 'its redemption') await expect(issue()).rejects.toMatchObject({ code: 'unknown_user' });
      else await expect(redeem(token)).rejects.toMatchObject(refused);
      await users.update({ id }, { active: true });
      await expect(redeem(token)).rejects.toMatchObject(refused);
    },
  );

  it('only one password reset token remains when several are created for a user in parallel', async () => {
    const tokens = await Promise.all(Array.from({ length: 6 }, issue));
    expect(await app.dataSource.query('SELECT * FROM auth_password_resets')).toHaveLength(1);
    const outcomes = await Promise.allSettled(tokens.map((token) => redeem(token)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it.each(['disableUser', 'enableUser', 'resetPassword', 'forgetUser'] as const)(
    'a password reset token is revoked by %s()',
    async (method) => {
      const token = await issue();
      const id = await userIdOf(app);
      await (method === 'resetPassword' ? app.auth.resetPassword(id, NEW_PASSWORD) : app.auth[method](id));
      await app.auth.enableUser(id);
      await expect(redeem(token)).rejects.toMatchObject(refused);
      expect(await app.dataSource.query('SELECT * FROM auth_password_resets')).toEqual([]);
    },
  );

  /** Runs the change after the next read of a user by the id. */
  function changeAfterRead(app: TestApplication, change: () => Promise<unknown>): void {
    const users = app.nest.get(Users);
    const findById = users.findById.bind(users);
    const reading = jest.spyOn(users, 'findById').mockImplementationOnce(async (...args) => {
      const user = await findById(...args);
      await change();
      reading.mockRestore();
      return user;
    });
  }

  it('no password reset token is created for a user who is disabled during the creation', async () => {
    const id = await userIdOf(app);
    changeAfterRead(app, () => app.auth.disableUser(id));
    await expect(issue()).rejects.toMatchObject({ code: 'unknown_user' });
    expect(await app.dataSource.query('SELECT * FROM auth_password_resets')).toEqual([]);
    await app.auth.enableUser(id);
  });

  it('a password reset token can be created while the password changes', async () => {
    const id = await userIdOf(app);
    changeAfterRead(app, () => app.auth.resetPassword(id, NEW_PASSWORD));
    await redeem(await issue());
  });
});
