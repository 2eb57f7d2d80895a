import { SECOND } from '../support/driven-clock';
import { PASSWORD, type Host } from '../support/host';
import { historyOf, INVALID_CREDENTIALS, INVALID_REFRESH, restorePassword, stories, type Stage } from './stories';

async function idOf(host: Host, username: string): Promise<string> {
  return (await host.dataSource.query(`SELECT id FROM auth_users WHERE username = '${username}'`))[0].id;
}

const NEW_PASSWORD = 'a password that is new';

stories('an account', {}, (at: Stage) => {
  it('that is disabled loses its sessions immediately and cannot log in, and enabling it restores none', async () => {
    const { host } = at;
    const session = await host.login();
    const id = await idOf(host, 'alice');
    await host.auth.disableUser(id, { ipAddress: '192.0.2.7' });
    await host.get('/me', session.access_token).expect(401);
    await host.refresh(session.refresh_token).expect(400, INVALID_REFRESH);
    const credentials = { username: 'alice', password: PASSWORD };
    await host.http.post('/auth/login').send(credentials).expect(400, INVALID_CREDENTIALS);
    expect(host.sent('user_logged_out')).toMatchObject([{ userId: id, reason: 'user_disabled' }]);
    await host.auth.enableUser(id);
    await host.get('/me', session.access_token).expect(401);
    const { access_token: token } = await host.login();
    const [, , forced] = await historyOf(host, token);
    expect(forced).toMatchObject({
      event: 'forced_logout',
      ip_address: '192.0.2.7',
      extra: { session_id: session.session_id, reason: 'user_disabled' },
    });
  });

  it('can be disabled twice, and one that does not exist is unknown_user', async () => {
    const { host } = at;
    const id = await idOf(host, 'bob');
    await host.auth.disableUser(id);
    await host.auth.disableUser(id);
    await host.auth.enableUser(id);
    const nobody = '00000000-0000-4000-8000-000000000000';
    await expect(host.auth.disableUser(nobody)).rejects.toMatchObject({ code: 'unknown_user' });
    await expect(host.auth.enableUser(nobody)).rejects.toMatchObject({ code: 'unknown_user' });
  });

  it('that is forgotten leaves no row, and those of other users stay', async () => {
    const { host } = at;
    const session = await host.login();
    await host.refresh(session.refresh_token).expect(200);
    await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    const bob = await host.login('bob');
    const id = await idOf(host, 'alice');
    await host.auth.createPasswordResetToken(id);
    await host.auth.forgetUser(id);
    const tables = ['sessions', 'events', 'login_failures', 'password_resets', 'user_locks'];
    const rows = await Promise.all(tables.map((table) => host.dataSource.query(`SELECT * FROM auth_${table}`)));
    const left = JSON.stringify(rows);
    expect(left).not.toContain(id);
    expect(left).not.toContain(session.session_id);
    expect(rows.map((found: unknown[]) => found.length)).toEqual([1, 1, 0, 0, 1]);
    expect(host.sent('user_logged_out')).toMatchObject([{ userId: id, reason: 'user_deleted' }]);
    await host.refresh(session.refresh_token).expect(400);
    await host.get('/me', bob.access_token).expect(200);
    await host.login();
  });
});

stories('a new password', { auth: { passwordPolicy: { minLength: 12, check: isKnown } } }, (at: Stage) => {
  const change = async (host: Host, password: string): Promise<{ status: number; body: unknown }> => {
    const { access_token: token } = await host.login();
    return host.post('/auth/password/change', token, { current_password: PASSWORD, new_password: password });
  };

  it('has at least the configured length in characters, whatever characters they are', async () => {
    const { host } = at;
    const refused = await change(host, '\u{1f511}'.repeat(11));
    expect([refused.status, refused.body]).toEqual([
      400,
      { new_password: ['Ensure this field has at least 12 characters.'] },
    ]);
    expect((await change(host, '\u{1f511}'.repeat(12))).status).toBe(200);
    await restorePassword(host);
  });

  it('must pass the check of the application, which receives the username', async () => {
    const { host } = at;
    for (const known of ['password password', 'alice alice alice']) {
      const { status, body } = await change(host, known);
      expect([status, body]).toEqual([400, { new_password: ['This password is known.'] }]);
    }
    await host.login();
    const create = host.auth.createUser({ username: 'carol', password: 'password password' });
    await expect(create).rejects.toMatchObject({ fields: { password: ['This password is known.'] } });
    const reset = host.auth.resetPassword(await idOf(host, 'alice'), 'short');
    await expect(reset).rejects.toMatchObject({ code: 'invalid_field' });
  });
});

function isKnown(password: string, { username }: { username: string }): Promise<string | null> {
  const isBad = password.startsWith('password') || password.includes(username);
  return Promise.resolve(isBad ? 'This password is known.' : null);
}

stories('a password reset token', { auth: { passwordResetTtlSeconds: 600 } }, (at: Stage) => {
  afterEach(() => restorePassword(at.host));

  const issue = async (): Promise<string> => {
    const { token } = await at.host.auth.createPasswordResetToken(await idOf(at.host, 'alice'));
    return token;
  };
  const redeem = (token: string, password = NEW_PASSWORD): Promise<void> =>
    at.host.auth.redeemPasswordResetToken(token, password);
  const refused = { code: 'invalid_reset_token' };

  it('sets a password once, ends all sessions, and ends the delay of failed logins', async () => {
    const { host } = at;
    const session = await host.login();
    for (let i = 0; i < 10; i++) await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' });
    const token = await issue();
    await redeem(token);
    await host.get('/me', session.access_token).expect(401);
    await host.login('alice', NEW_PASSWORD);
    await expect(redeem(token, PASSWORD)).rejects.toMatchObject(refused);
    expect(host.sent('password_reset')).toHaveLength(1);
    expect(host.sent('user_logged_out')).toMatchObject([{ reason: 'password_reset' }]);
  });

  it('is redeemed once when it is presented several times in parallel', async () => {
    const token = await issue();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => redeem(token)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('expires after its lifetime, and is then pruned', async () => {
    const { host } = at;
    const token = await issue();
    host.clock.advance(600 * SECOND);
    await expect(redeem(token)).rejects.toMatchObject(refused);
    expect(await host.pruning.prune()).toMatchObject({ passwordResets: 1 });
    const next = await issue();
    host.clock.advance(600 * SECOND - 1);
    await redeem(next);
  });

  it('remains valid when the new password is refused', async () => {
    const token = await issue();
    await expect(redeem(token, 'short')).rejects.toMatchObject({ code: 'invalid_field' });
    await redeem(token);
  });

  it('is revoked by a newer one, by a password change and by disabling the account', async () => {
    const { host } = at;
    const first = await issue();
    const second = await issue();
    await expect(redeem(first)).rejects.toMatchObject(refused);
    const { access_token: token } = await host.login();
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    await host.post('/auth/password/change', token, change).expect(200);
    await expect(redeem(second)).rejects.toMatchObject(refused);
    const third = await issue();
    const id = await idOf(host, 'alice');
    await host.auth.disableUser(id);
    await expect(redeem(third)).rejects.toMatchObject(refused);
    await expect(host.auth.createPasswordResetToken(id)).rejects.toMatchObject({ code: 'unknown_user' });
    await host.auth.enableUser(id);
  });

  it('is stored as a digest, and no other kind of token is accepted in its place', async () => {
    const { host } = at;
    const token = await issue();
    expect(token).toMatch(/^nsap_[A-Za-z0-9_-]{50}$/);
    const rows = await host.dataSource.query('SELECT * FROM auth_password_resets');
    expect(JSON.stringify(rows)).not.toContain(token);
    await host.get('/me', token).expect(401);
    await host.refresh(token).expect(400);
    const { refresh_token: other } = await host.login();
    await expect(redeem(other)).rejects.toMatchObject(refused);
    await expect(redeem('')).rejects.toMatchObject(refused);
  });

  it('cannot be created for an unknown user', async () => {
    const nobody = '00000000-0000-4000-8000-000000000000';
    await expect(at.host.auth.createPasswordResetToken(nobody)).rejects.toMatchObject({ code: 'unknown_user' });
  });
});
