import { AuthUser } from 'nestjs-session-auth';
import { Users } from '../../libs/auth/src/users/users';
import { SECOND } from '../support/driven-clock';
import { describeOnEachDatabase, restorePassword } from '../support/environment';
import { PASSWORD, type TestApplication } from '../support/test-application';

const NEW_PASSWORD = 'a password that is new';

describeOnEachDatabase('password reset tokens', { auth: { passwordResetTtlSeconds: 600 } }, ({ app }) => {
  afterEach(() => restorePassword(app));

  const issue = async (): Promise<string> => {
    const { token } = await app.auth.createPasswordResetToken(await app.userId());
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
    expect(app.sent('password_reset')).toEqual([{ userId: await app.userId() }]);
    const ended = { reason: 'password_reset' };
    expect(app.sent('user_logged_out')).toMatchObject([ended, ended]);
  });

  it('a request for a password reset is recorded with the client that made it', async () => {
    const client = { ipAddress: '192.0.2.9', userAgent: 'curl/8' };
    await app.auth.createPasswordResetToken(await app.userId(), client);
    const { access_token: token } = await app.login();
    const entry = (await app.history(token)).find(({ event }) => event === 'password_reset_requested');
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
    const id = await app.userId();
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
      const id = await app.userId();
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
      const id = await app.userId();
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
    const id = await app.userId();
    changeAfterRead(app, () => app.auth.disableUser(id));
    await expect(issue()).rejects.toMatchObject({ code: 'unknown_user' });
    expect(await app.dataSource.query('SELECT * FROM auth_password_resets')).toEqual([]);
    await app.auth.enableUser(id);
  });

  it('a password reset token can be created while the password changes', async () => {
    const id = await app.userId();
    changeAfterRead(app, () => app.auth.resetPassword(id, NEW_PASSWORD));
    await redeem(await issue());
  });
});
