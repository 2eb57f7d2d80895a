import { AuthUser, OpenSockets, SessionAdministration } from 'nestjs-session-auth';
import { DataSource, type EntityManager, type InsertEvent } from 'typeorm';
import { Database } from '../../libs/auth/src/store/database/database';
import { Stage, stories } from '../e2e/stories';
import { PASSWORD, type Host } from '../support/host';
import { Tap } from '../support/tap';

class RollbackError extends Error {}

const NEW_PASSWORD = 'a password that is new';

async function idOf(host: Host, username = 'alice'): Promise<string> {
  return (await host.dataSource.query(`SELECT id FROM auth_users WHERE username = '${username}'`))[0].id;
}

/** A transaction that the application rolls back in the end. */
async function rolledBack(host: Host, work: (manager: EntityManager) => Promise<unknown>): Promise<void> {
  const transaction = host.dataSource.transaction(async (manager) => {
    await work(manager);
    throw new RollbackError();
  });
  await expect(transaction).rejects.toBeInstanceOf(RollbackError);
}

stories('a transaction of the application', {}, (at: Stage) => {
  let tap: Tap;
  beforeAll(() => void (tap = new Tap(at.host)));
  afterEach(() => at.host.dataSource.query("UPDATE auth_users SET active = true WHERE username = 'alice'"));

  it('includes what its calls do, and their signals are emitted after the commit', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    const bob = await host.login('bob');
    const [aliceId, bobId] = [await idOf(host), await idOf(host, 'bob')];
    await host.dataSource.transaction(async (manager) => {
      await host.auth.inTransaction(manager).disableUser(aliceId);
      await host.app.get(SessionAdministration).inTransaction(manager).end({ userId: bobId }, { actor: 'carol' });
      expect(host.sent('user_logged_out')).toEqual([]);
    });
    expect(host.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['user_disabled', 'admin']);
    await host.get('/me', token).expect(401);
    await host.get('/me', bob.access_token).expect(401);
  });

  it('that is rolled back leaves everything as it was, and emits nothing', async () => {
    const { host } = at;
    const { access_token: token, session_id: session } = await host.login();
    const id = await idOf(host);
    const tables = ['auth_users', 'auth_sessions', 'auth_events', 'auth_user_locks', 'auth_password_resets'];
    const dump = (): Promise<unknown> =>
      Promise.all(tables.map((table) => host.dataSource.query(`SELECT * FROM ${table}`)));
    const before = await dump();
    const calls: ((manager: EntityManager) => Promise<unknown>)[] = [
      (manager) => host.auth.inTransaction(manager).createUser({ username: 'carol', password: PASSWORD }),
      (manager) => host.auth.inTransaction(manager).disableUser(id),
      (manager) => host.auth.inTransaction(manager).forgetUser(id),
      (manager) => host.auth.inTransaction(manager).revokeSession(id, session),
      (manager) => host.auth.inTransaction(manager).resetPassword(id, NEW_PASSWORD),
      (manager) => host.auth.inTransaction(manager).createPasswordResetToken(id),
      (manager) =>
        host.app.get(SessionAdministration).inTransaction(manager).end({ everyone: true }, { actor: 'carol' }),
    ];
    for (const call of calls) await rolledBack(host, call);
    const principal = (await host.auth.authenticate(token))!;
    const change = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    await rolledBack(host, (manager) => host.auth.inTransaction(manager).changePassword(principal, change));
    await rolledBack(host, (manager) => host.auth.inTransaction(manager).logoutAll(principal));
    expect(await dump()).toEqual(before);
    expect(host.signals.filter(({ name }) => name !== 'user_logged_in')).toEqual([]);
    await host.get('/me', token).expect(200);
    await host.login();
  });

  it('sees a user that it has created', async () => {
    const { host } = at;
    await host.dataSource.transaction(async (manager) => {
      const auth = host.auth.inTransaction(manager);
      const { id } = await auth.createUser({ username: 'carol', password: PASSWORD });
      await expect(auth.createUser({ username: 'carol', password: PASSWORD })).rejects.toMatchObject({
        code: 'username_taken',
      });
      const { token } = await auth.createPasswordResetToken(id);
      await auth.redeemPasswordResetToken(token, NEW_PASSWORD);
    });
    await host.login('carol', NEW_PASSWORD);
    await host.dataSource.query("DELETE FROM auth_users WHERE username = 'carol'");
  });

  it('undoes with a savepoint what was done since, and keeps the rest', async () => {
    const { host } = at;
    await host.login();
    const bob = await host.login('bob');
    const [aliceId, bobId] = [await idOf(host), await idOf(host, 'bob')];
    await host.dataSource.transaction(async (manager) => {
      const inner = manager.transaction(async (nested) => {
        await host.auth.inTransaction(nested).resetPassword(bobId, NEW_PASSWORD);
        throw new RollbackError();
      });
      await expect(inner).rejects.toBeInstanceOf(RollbackError);
      await manager.transaction((nested) => host.auth.inTransaction(nested).disableUser(aliceId));
      expect(host.sent('user_logged_out')).toEqual([]);
    });
    expect(host.sent('user_logged_out').map(({ userId, reason }) => [userId, reason])).toEqual([
      [aliceId, 'user_disabled'],
    ]);
    expect(host.sent('password_reset')).toEqual([]);
    await host.get('/me', bob.access_token).expect(200);
  });

  it('closes the sockets of ended sessions at its commit, and none at its rollback', async () => {
    const { host } = at;
    const { session_id: session } = await host.login();
    const id = await idOf(host);
    const close = jest.fn();
    host.app.get(OpenSockets).register(session, close);
    await rolledBack(host, (manager) => host.auth.inTransaction(manager).revokeSession(id, session));
    expect(close).not.toHaveBeenCalled();
    await host.dataSource.transaction(async (manager) => {
      await host.auth.inTransaction(manager).revokeSession(id, session);
      expect(close).not.toHaveBeenCalled();
    });
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('may make several calls in parallel', async () => {
    const { host } = at;
    const ids = [await idOf(host), await idOf(host, 'bob')];
    for (const username of ['alice', 'bob', 'alice']) await host.login(username);
    await host.dataSource.transaction(async (manager) => {
      const auth = host.app.get(SessionAdministration).inTransaction(manager);
      const ended = await Promise.all(ids.map((userId) => auth.end({ userId }, { actor: 'carol' })));
      expect(ended).toEqual([2, 1]);
    });
    expect(host.sent('user_logged_out')).toHaveLength(3);
  });

  it('can continue after a call that was refused', async () => {
    const { host } = at;
    const { session_id: session } = await host.login();
    const id = await idOf(host);
    await host.dataSource.transaction(async (manager) => {
      const auth = host.auth.inTransaction(manager);
      await expect(auth.disableUser('1b4e28ba-2fa1-41d2-883f-0016d3cca427')).rejects.toMatchObject({
        code: 'unknown_user',
      });
      await expect(auth.resetPassword(id, 'short')).rejects.toMatchObject({ code: 'invalid_field' });
      await auth.revokeSession(id, session);
    });
    expect(host.sent('user_logged_out')).toHaveLength(1);
  });

  it('ends sessions although their events cannot be written', async () => {
    const { host } = at;
    const { access_token: token, session_id: session } = await host.login();
    const id = await idOf(host);
    tap.hook = {
      before: ({ sql }) => {
        if (/^INSERT INTO .auth_events/.test(sql)) throw new Error('out of order');
      },
    };
    await host.dataSource.transaction((manager) => host.auth.inTransaction(manager).revokeSession(id, session));
    tap.hook = {};
    expect(host.logs.join()).toContain('Lost: session_revoked');
    await host.get('/me', token).expect(401);
  });

  it('does not include logins and refreshes that happen meanwhile', async () => {
    const { host, database } = at;
    const session = await host.login();
    let meanwhile: Promise<unknown> = Promise.resolve();
    await rolledBack(host, async () => {
      meanwhile = Promise.all([host.login('bob'), host.refresh(session.refresh_token).expect(200)]);
      // On SQLite they wait for the transaction to end.
      if (database.name !== 'sqlite') await meanwhile;
    });
    await meanwhile;
    expect(host.sent('user_logged_in')).toHaveLength(2);
    await host.refresh(session.refresh_token).expect(400);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('keeps the count of a wrong password when it is rolled back', async () => {
    const { host, database } = at;
    const { access_token: token } = await host.login();
    const principal = (await host.auth.authenticate(token))!;
    const guess = { currentPassword: 'a wrong password', newPassword: NEW_PASSWORD };
    const guessed = host.dataSource.transaction((manager) =>
      host.auth.inTransaction(manager).changePassword(principal, guess, { ipAddress: '192.0.2.1' }),
    );
    await expect(guessed).rejects.toMatchObject({ code: 'invalid_field' });
    const [{ n }] = await host.dataSource.query("SELECT COUNT(*) AS n FROM auth_events WHERE event = 'login_failure'");
    // SQLite has one connection, and everything on it is part of the transaction.
    expect(Number(n)).toBe(database.name === 'sqlite' ? 0 : 1);
    expect(host.sent('login_failed')).toHaveLength(database.name === 'sqlite' ? 0 : 1);
  });

  it('that has ended includes nothing more: pending calls fail', async () => {
    const { host } = at;
    await host.login();
    await host.login('bob');
    const ids = [await idOf(host), await idOf(host, 'bob')];
    const runner = host.dataSource.createQueryRunner();
    await runner.connect();
    await runner.startTransaction();
    const auth = host.auth.inTransaction(runner.manager);
    const outcomes = Promise.allSettled(ids.map((id) => auth.resetPassword(id, NEW_PASSWORD)));
    await runner.rollbackTransaction();
    // The next one on the same connection does not include them.
    await runner.startTransaction();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await runner.commitTransaction();
    await runner.release();
    expect(await host.dataSource.query("SELECT id FROM auth_sessions WHERE state <> 'active'")).toEqual([]);
    expect(host.sent('password_reset')).toEqual([]);
    await host.login();
  });

  it('keeps what the application writes after a call that timed out', async () => {
    const { host, database } = at;
    if (database.name === 'sqlite') return;
    const { session_id: session } = await host.login();
    const id = await idOf(host);
    Object.assign(host.app.get(Database), { answerWithinMs: 100 });
    const locker = host.dataSource.createQueryRunner();
    await locker.connect();
    await locker.startTransaction();
    await locker.query(`SELECT id FROM auth_sessions WHERE id = '${session}' FOR UPDATE`);
    setTimeout(() => void locker.rollbackTransaction().then(() => locker.release()), 300);
    await host.dataSource.transaction(async (manager) => {
      await expect(host.auth.inTransaction(manager).revokeSession(id, session)).rejects.toMatchObject({
        code: 'database_unavailable',
      });
      await manager.query("UPDATE auth_users SET active = false WHERE username = 'alice'");
    });
    Object.assign(host.app.get(Database), { answerWithinMs: 5_000 });
    const users = await host.dataSource.query(
      "SELECT username FROM auth_users WHERE username = 'alice' AND NOT active",
    );
    expect(users).toHaveLength(1);
    expect(host.sent('user_logged_out')).toEqual([]);
  });

  it('keeps its own lock timeout', async () => {
    const { host, database } = at;
    if (database.name !== 'postgres') return;
    const { session_id: session } = await host.login();
    const id = await idOf(host);
    await host.dataSource.transaction(async (manager) => {
      await host.auth.inTransaction(manager).revokeSession(id, session);
      expect(await manager.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '0' }]);
    });
  });

  it('includes the calls that a subscriber of the application makes within a call', async () => {
    const { host } = at;
    const tokens: string[] = [];
    const subscriber = {
      listenTo: () => AuthUser,
      afterInsert: async ({ entity, manager }: InsertEvent<AuthUser>) => {
        tokens.push((await host.auth.inTransaction(manager).createPasswordResetToken(entity.id)).token);
      },
    };
    host.dataSource.subscribers.push(subscriber);
    try {
      await host.dataSource.transaction((manager) =>
        host.auth.inTransaction(manager).createUser({ username: 'carol', password: PASSWORD }),
      );
    } finally {
      host.dataSource.subscribers.splice(host.dataSource.subscribers.indexOf(subscriber), 1);
    }
    await host.auth.redeemPasswordResetToken(tokens[0]!, NEW_PASSWORD);
    await host.login('carol', NEW_PASSWORD);
    await host.dataSource.query("DELETE FROM auth_users WHERE username = 'carol'");
  });

  it('must be open and on the same DataSource', async () => {
    const { host, database } = at;
    expect(() => host.auth.inTransaction(host.dataSource.manager)).toThrow('There is no open transaction');
    const late = await host.dataSource.transaction((manager) => Promise.resolve(host.auth.inTransaction(manager)));
    await expect(late.disableUser(await idOf(host))).rejects.toThrow('There is no open transaction');
    const other = await new DataSource(database.options).initialize();
    await other.transaction((manager) => {
      expect(() => host.auth.inTransaction(manager)).toThrow('another DataSource');
      return Promise.resolve();
    });
    await other.destroy();
  });
});
