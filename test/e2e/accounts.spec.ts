import { AuthUser, UserStore } from 'nestjs-session-auth';
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
    const ticket = await host.auth.createLoginTicket(id, { methods: ['hwk'] });
    await host.auth.attempt({ ticket, method: 'otp' }, {}, () => false);
    await host.auth.forgetUser(id);
    const tables = ['sessions', 'events', 'login_failures', 'password_resets', 'login_tickets', 'user_locks'];
    const rows = await Promise.all(tables.map((table) => host.dataSource.query(`SELECT * FROM auth_${table}`)));
    const left = JSON.stringify(rows);
    expect(left).not.toContain(id);
    expect(left).not.toContain(session.session_id);
    expect(rows.map((found: unknown[]) => found.length)).toEqual([1, 1, 0, 0, 0, 1]);
    expect(host.sent('user_logged_out')).toMatchObject([{ userId: id, reason: 'user_deleted' }]);
    await host.refresh(session.refresh_token).expect(400);
    await host.get('/me', bob.access_token).expect(200);
    await host.login();
  });
});

stories('an id', {}, (at: Stage) => {
  // MariaDB compares text with the number 0 as equal unless the text begins with a digit.
  it.each([0, 0n, '', '0', ' ', null, NaN])('%p is unknown, whatever the database converts it to', async (given) => {
    const { host } = at;
    const { access_token: token } = await host.login();
    await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    const unknown = { code: 'unknown_user' };
    const id = given as number;
    await expect(host.auth.openSession(id)).rejects.toMatchObject(unknown);
    await expect(host.auth.openSession({ id })).rejects.toMatchObject(unknown);
    await expect(host.auth.disableUser(id)).rejects.toMatchObject(unknown);
    await expect(host.auth.enableUser(id)).rejects.toMatchObject(unknown);
    await expect(host.auth.createPasswordResetToken(id)).rejects.toMatchObject(unknown);
    await expect(host.auth.resetPassword(id, NEW_PASSWORD)).rejects.toMatchObject(unknown);
    await host.auth.forgetUser(id);
    const users = host.app.get(UserStore);
    expect([await users.setActive!(id, false), await users.setPasswordHash!(id, 'x')]).toEqual([false, false]);
    expect([await users.findById(id), await users.load(id)]).toEqual([null, null]);
    expect(await host.auth.listSessions(id)).toEqual([]);
    expect(await host.dataSource.query('SELECT * FROM auth_login_failures')).not.toEqual([]);
    await host.get('/me', token).expect(200);
    await host.login('bob');
  });

  it('in upper case is unknown', async () => {
    const { host } = at;
    const id = (await idOf(host, 'alice')).toUpperCase();
    await expect(host.auth.openSession(id)).rejects.toMatchObject({ code: 'unknown_user' });
  });
});

stories('the name of a new user', {}, (at: Stage) => {
  it.each([
    'ali\u0000ce',
    'ali\tce',
    'alice\n',
    'alice\u007f',
    'alice\u0085',
    '\u200balice',
    'ali\u200cce',
    'ali\u200dce',
    'ali\u00adce',
    'alice\u2060',
    '\ufeffalice',
    '\u202ealice',
    'alice\u200e',
    '\u2066alice\u2069',
    'alice\u061c',
    'ali\u2028ce',
    'alice\u034f',
    'alice\ufe0f',
    'alice\u3164',
    'alice\u{e0041}',
  ])('cannot have a character that is not displayed: %j', async (username) => {
    const create = at.host.auth.createUser({ username, password: null });
    await expect(create).rejects.toMatchObject({ code: 'invalid_field', fields: { username: [expect.any(String)] } });
  });

  it('cannot have one within a transaction of the application either', async () => {
    const create = at.host.dataSource.transaction((manager) =>
      at.host.auth.inTransaction(manager).createUser({ username: 'alice\u200b', password: null }),
    );
    await expect(create).rejects.toMatchObject({ code: 'invalid_field' });
  });

  it.each(['jos\u00e9', 'jose\u0301', '\u5f20\u4f1f', '\u0639\u0644\u064a', '\u05d3\u05d5\u05d3', 'a b', '\u{1f600}'])(
    'can have letters and symbols of every script: %s',
    async (username) => {
      const { id } = await at.host.auth.createUser({ username, password: null });
      expect(await at.host.auth.openSession(id)).toMatchObject({ sessionId: expect.any(String) });
    },
  );
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
    const keys = Array.from({ length: 12 }, (_, i) => String.fromCodePoint(0x1f400 + i * i));
    expect((await change(host, keys.join(''))).status).toBe(200);
    await restorePassword(host);
  });

  it('is refused wherever it is set if it is easy to guess', async () => {
    const { host } = at;
    const id = await idOf(host, 'alice');
    const common = ['This password is too common.'];
    for (const guessed of ['PasswordPassword', 'thisismypassword', 'qwertyuiop12345']) {
      expect(await change(host, guessed)).toMatchObject({ status: 400, body: { new_password: common } });
      const refused = { code: 'invalid_field', fields: { new_password: common } };
      await expect(host.auth.resetPassword(id, guessed)).rejects.toMatchObject(refused);
      const { token } = await host.auth.createPasswordResetToken(id);
      await expect(host.auth.redeemPasswordResetToken(token, guessed)).rejects.toMatchObject(refused);
      const create = host.auth.createUser({ username: 'carol', password: guessed });
      await expect(create).rejects.toMatchObject({ code: 'invalid_field', fields: { password: common } });
    }
    const named = await change(host, 'here is ALICE again');
    expect(named.body).toEqual({ new_password: ['This password contains the name of the user.'] });
    const carol = await host.auth.createUser({ username: 'carol', password: 'aaaaaaaa' }, { skipPolicy: true });
    await host.dataSource.query(`DELETE FROM auth_users WHERE id = '${String(carol.id)}'`);
  });

  it('must pass the check of the application, which receives the username', async () => {
    const { host } = at;
    for (const known of ['password and more', 'ali with forty thieves']) {
      const { status, body } = await change(host, known);
      expect([status, body]).toEqual([400, { new_password: ['This password is known.'] }]);
    }
    await host.login();
    const create = host.auth.createUser({ username: 'carol', password: 'password and more' });
    await expect(create).rejects.toMatchObject({ fields: { password: ['This password is known.'] } });
    const reset = host.auth.resetPassword(await idOf(host, 'alice'), 'short');
    await expect(reset).rejects.toMatchObject({ code: 'invalid_field' });
  });
});

const ALLOWED = { allowPredictable: true, minLength: 8, check: isKnown };

stories('a new password that may be predictable', { auth: { passwordPolicy: ALLOWED } }, (at: Stage) => {
  it('is accepted however easy to guess, but not if it is too short or fails the check of the application', async () => {
    const { host } = at;
    const id = await idOf(host, 'alice');
    for (const password of ['letmeinletmein', 'qwertyuiop12345', 'here is alice']) {
      await host.auth.resetPassword(id, password);
      await host.login('alice', password);
    }
    for (const [password, problem] of [
      ['aaaaaaa', 'Ensure this field has at least 8 characters.'],
      ['passwordpassword', 'This password is known.'],
    ] as const) {
      const refused = { code: 'invalid_field', fields: { new_password: [problem] } };
      await expect(host.auth.resetPassword(id, password)).rejects.toMatchObject(refused);
    }
    await restorePassword(host);
  });
});

/** The 100th, one at about the 1,000th place and the 3,000th of those that leaked most often, of at least so many characters. */
const FREQUENT = new Map([
  [8, ['babygirl', 'cerberus', '30121988']],
  [15, ['xf6cmqlrpeuhjuvv', 'masha0663655464', 'zcfvfzkelifz123']],
]);

for (const [minLength, passwords] of FREQUENT) {
  stories(`a new password of at least ${minLength} characters`, { auth: { passwordPolicy: { minLength } } }, (at) => {
    it('is refused if it is among the 3,000 of this length that leaked most often', async () => {
      const refused = { code: 'invalid_field', fields: { password: ['This password is too common.'] } };
      for (const password of passwords) {
        await expect(at.host.auth.createUser({ username: 'carol', password })).rejects.toMatchObject(refused);
      }
    });
  });
}

function isKnown(password: string, { username }: { username: string }): Promise<string | null> {
  const isBad = password.startsWith('password') || password.startsWith(username.slice(0, 3));
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

  it('is recorded with the client that requested it', async () => {
    const { host } = at;
    const client = { ipAddress: '192.0.2.9', userAgent: 'curl/8' };
    await host.auth.createPasswordResetToken(await idOf(host, 'alice'), client);
    const { access_token: token } = await host.login();
    const entry = (await historyOf(host, token)).find(({ event }) => event === 'password_reset_requested');
    expect(entry).toMatchObject({ ip_address: '192.0.2.9', user_agent: 'curl/8', extra: {} });
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

  it.each(['a request', 'the token', 'a request for another token'])(
    "is revoked once %s has noticed that the user was disabled in the application's table",
    async (noticing) => {
      const { host } = at;
      const { access_token: access } = await host.login();
      const token = await issue();
      const id = await idOf(host, 'alice');
      const users = host.dataSource.getRepository(AuthUser);
      await users.update({ id }, { active: false });
      if (noticing === 'a request') await host.get('/me', access).expect(401);
      else if (noticing !== 'the token') await expect(issue()).rejects.toMatchObject({ code: 'unknown_user' });
      else await expect(redeem(token)).rejects.toMatchObject(refused);
      await users.update({ id }, { active: true });
      await expect(redeem(token)).rejects.toMatchObject(refused);
    },
  );

  it('is the only one of its user when several are created in parallel', async () => {
    const { host } = at;
    const tokens = await Promise.all(Array.from({ length: 6 }, issue));
    expect(await host.dataSource.query('SELECT * FROM auth_password_resets')).toHaveLength(1);
    const outcomes = await Promise.allSettled(tokens.map((token) => redeem(token)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it.each(['disableUser', 'enableUser', 'resetPassword', 'forgetUser'] as const)('is revoked by %s', async (method) => {
    const { host } = at;
    const token = await issue();
    const id = await idOf(host, 'alice');
    await (method === 'resetPassword' ? host.auth.resetPassword(id, NEW_PASSWORD) : host.auth[method](id));
    await host.auth.enableUser(id);
    await expect(redeem(token)).rejects.toMatchObject(refused);
    expect(await host.dataSource.query('SELECT * FROM auth_password_resets')).toEqual([]);
  });

  it('that is being created while its user is disabled is not valid when the user is enabled', async () => {
    const { host } = at;
    const id = await idOf(host, 'alice');
    const users = host.app.get(UserStore);
    const findById = users.findById.bind(users);
    const reading = jest.spyOn(users, 'findById').mockImplementationOnce(async (userId) => {
      const user = await findById(userId);
      await host.auth.disableUser(id);
      return user;
    });
    await expect(issue()).rejects.toMatchObject({ code: 'unknown_user' });
    reading.mockRestore();
    expect(await host.dataSource.query('SELECT * FROM auth_password_resets')).toEqual([]);
    await host.auth.enableUser(id);
  });

  it('is created when the password changes at the same time', async () => {
    const { host } = at;
    const id = await idOf(host, 'alice');
    const users = host.app.get(UserStore);
    const findById = users.findById.bind(users);
    const reading = jest.spyOn(users, 'findById').mockImplementationOnce(async (userId) => {
      const user = await findById(userId);
      await host.auth.resetPassword(id, NEW_PASSWORD);
      return user;
    });
    const token = await issue();
    reading.mockRestore();
    await redeem(token);
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
