import { changeAfterRead } from '../support/change-after-read';
import { SECOND } from '../support/driven-clock';
import { describeOnEachDatabase, restorePassword } from '../support/environment';
import { type Pair, PASSWORD } from '../support/test-application';

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
    for (let i = 0; i < 10; i++) await app.failLogin();
    const token = await issue();
    await redeem(token);
    await app.expectRevoked(...sessions);
    await app.login('alice', NEW_PASSWORD);
    await expect(redeem(token, PASSWORD)).rejects.toMatchObject(refused);
    expect(app.sent('password_reset')).toEqual([{ userId: await app.userId() }]);
    const ended = { reason: 'password_reset' };
    expect(app.sent('user_logged_out')).toMatchObject([ended, ended]);
  });

  it('a request for a password reset is recorded with the client that made it', async () => {
    const client = { ipAddress: '192.0.2.9', userAgent: 'curl/8' };
    await app.auth.createPasswordResetToken(await app.userId(), client);
    const [entry] = await app.auth.history(await app.userId());
    expect(entry).toMatchObject({ event: 'password_reset_requested', ...client, extra: {} });
  });

  it('a password reset token expires after its lifetime, and is then pruned, and remains valid when the new password is refused', async () => {
    const token = await issue();
    app.clock.advance(600 * SECOND);
    await expect(redeem(token)).rejects.toMatchObject(refused);
    expect(await app.pruning.prune()).toMatchObject({ passwordResets: 1 });
    const next = await issue();
    app.clock.advance(600 * SECOND - 1);
    await expect(redeem(next, 'short')).rejects.toMatchObject({ code: 'invalid_field' });
    await redeem(next);
  });

  it('a password reset token is revoked by a newer token and by a password change, and none is created for a disabled user', async () => {
    const first = await issue();
    const second = await issue();
    await expect(redeem(first)).rejects.toMatchObject(refused);
    await app.changePassword((await app.login()).access_token).expect(200);
    await expect(redeem(second)).rejects.toMatchObject(refused);
    const id = await app.userId();
    await app.auth.disableUser(id);
    for (const unknown of [id, '00000000-0000-4000-8000-000000000000']) {
      await expect(app.auth.createPasswordResetToken(unknown)).rejects.toMatchObject({ code: 'unknown_user' });
    }
    await app.auth.enableUser(id);
  });

  it.each<[string, (token: string, session: Pair) => Promise<unknown>]>([
    ['a request', (_, { access_token: access }) => app.get('/me', access).expect(401)],
    ['its redemption', (token) => expect(redeem(token)).rejects.toMatchObject(refused)],
    ['the creation of another token', () => expect(issue()).rejects.toMatchObject({ code: 'unknown_user' })],
  ])('a password reset token is revoked once %s finds that the user is disabled in the table', async (_, notice) => {
    const session = await app.login();
    const token = await issue();
    await app.setActive('alice', false);
    await notice(token, session);
    await app.setActive('alice', true);
    await expect(redeem(token)).rejects.toMatchObject(refused);
  });

  it('only one of several password reset tokens that are created in parallel remains, and is redeemed once', async () => {
    const tokens = await Promise.all(Array.from({ length: 6 }, issue));
    expect(await app.dataSource.query('SELECT * FROM auth_password_resets')).toHaveLength(1);
    const outcomes = await Promise.allSettled([...tokens, ...tokens].map((token) => redeem(token)));
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
