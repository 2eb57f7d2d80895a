import {
  AuthEvent,
  AuthLoginFailure,
  AuthUser,
  OpenSockets,
  SessionAdministration,
  type AuthPrincipal,
} from 'nestjs-session-auth';
import { DataSource, In, Like, type EntityManager, type InsertEvent } from 'typeorm';
import { DIALECTS } from '../support/databases';
import { describeOnEachDatabase } from '../support/environment';
import { withDeadline } from '../support/tap';
import { PASSWORD, type TestApplication } from '../support/test-application';

class RollbackError extends Error {}

const NEW_PASSWORD = 'a password that is new';
const CAROL = { username: 'carol', password: PASSWORD };

type Auth = ReturnType<TestApplication['auth']['inTransaction']>;
type Administration = ReturnType<SessionAdministration['inTransaction']>;

/** Runs the work in a transaction of the application, or in a savepoint of it, which is rolled back afterwards. */
async function rolledBack(
  { manager }: Pick<DataSource, 'manager'>,
  work: (manager: EntityManager) => Promise<unknown>,
): Promise<void> {
  const transaction = manager.transaction(async (inner) => {
    await work(inner);
    throw new RollbackError();
  });
  await expect(transaction).rejects.toBeInstanceOf(RollbackError);
}

describeOnEachDatabase('calls within a transaction of the application', {}, ({ app, tap, database, name }) => {
  afterEach(async () => {
    await app.dataSource.query("UPDATE auth_users SET active = true WHERE username = 'alice'");
    await app.dataSource.query("DELETE FROM auth_users WHERE username LIKE 'carol%'");
  });

  const callsIn = (manager: EntityManager): Auth => app.auth.inTransaction(manager);
  const administrationIn = (manager: EntityManager): Administration =>
    app.nest.get(SessionAdministration).inTransaction(manager);
  /** Runs calls in a transaction of the application. */
  const committed = <T>(work: (auth: Auth) => Promise<T>): Promise<T> =>
    app.dataSource.transaction((manager) => work(callsIn(manager)));

  async function failureCounts(): Promise<number[]> {
    const failures = await app.dataSource.getRepository(AuthLoginFailure).find();
    return failures.map(({ failureCount }) => failureCount);
  }
  const emittedCounts = (): number[] => app.sent('login_failed').map(({ failureCount }) => failureCount);

  /** Logs a user in, and returns the session with the id and the principal of the user. */
  async function loggedIn(username = 'alice') {
    const { access_token: token, session_id: session } = await app.login(username);
    return { token, session, id: await app.userId(username), principal: (await app.auth.authenticate(token))! };
  }

  it('a transaction that is rolled back undoes all calls, emits no signal and closes no socket', async () => {
    const { token, session, id, principal } = await loggedIn();
    const close = jest.fn();
    app.nest.get(OpenSockets).register(session, close);
    const tables = ['auth_users', 'auth_sessions', 'auth_events', 'auth_user_locks', 'auth_password_resets'];
    const dump = (): Promise<unknown> =>
      Promise.all(tables.map((table) => app.dataSource.query(`SELECT * FROM ${table}`)));
    const before = await dump();
    const calls: ((auth: Auth, administration: Administration) => Promise<unknown>)[] = [
      (auth) => auth.createUser(CAROL),
      (auth) => auth.disableUser(id),
      (auth) => auth.forgetUser(id),
      (auth) => auth.revokeSession(id, session),
      (auth) => auth.endSessions(id),
      (auth) => auth.resetPassword(id, NEW_PASSWORD),
      (auth) => auth.createPasswordResetToken(id),
      (_, administration) => administration.end({ everyone: true }, { actor: 'carol' }),
      (auth) => auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }),
      (auth) => auth.logoutAll(principal),
    ];
    for (const call of calls) {
      await rolledBack(app.dataSource, (manager) => call(callsIn(manager), administrationIn(manager)));
    }
    expect(await dump()).toEqual(before);
    expect(app.signals.filter(({ name }) => name !== 'user_logged_in')).toEqual([]);
    await app.get('/me', token).expect(200);
    await app.login();
    expect(close).not.toHaveBeenCalled();
    await committed(async (auth) => {
      await auth.revokeSession(id, session);
      expect(close).not.toHaveBeenCalled();
    });
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('a rollback to a savepoint undoes only the calls after the savepoint', async () => {
    const [alice, bob] = [await loggedIn(), await loggedIn('bob')];
    await app.dataSource.transaction(async (manager) => {
      await callsIn(manager).createPasswordResetToken(bob.id);
      await rolledBack({ manager }, (nested) => callsIn(nested).resetPassword(bob.id, NEW_PASSWORD));
      await manager.transaction((nested) => callsIn(nested).disableUser(alice.id));
      expect(app.sent('user_logged_out')).toEqual([]);
    });
    expect(await app.dataSource.query('SELECT user_id FROM auth_password_resets')).toHaveLength(1);
    expect(app.sent('user_logged_out')).toMatchObject([{ userId: alice.id, reason: 'user_disabled' }]);
    expect(app.sent('password_reset')).toEqual([]);
    await app.get('/me', alice.token).expect(401);
    await app.get('/me', bob.token).expect(200);
  });

  it('a transaction can make several calls in parallel, emits their signals after the commit, and refuses one of two users with the same name', async () => {
    const ids = [await app.userId(), await app.userId('bob')];
    for (const username of ['alice', 'bob', 'alice']) await app.login(username);
    await app.dataSource.transaction(async (manager) => {
      const administration = administrationIn(manager);
      const ended = await Promise.all(ids.map((userId) => administration.end({ userId }, { actor: 'carol' })));
      expect(ended).toEqual([2, 1]);
      const create = (username: string): Promise<unknown> => callsIn(manager).createUser({ username, password: null });
      const outcomes = await Promise.allSettled(['carol', 'carol', 'carol 2'].map(create));
      const taken = { status: 'rejected', reason: { code: 'username_taken' } };
      expect(outcomes).toMatchObject([{ status: 'fulfilled' }, taken, { status: 'fulfilled' }]);
      expect(app.sent('user_logged_out')).toEqual([]);
    });
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['admin', 'admin', 'admin']);
    expect(await app.dataSource.query("SELECT id FROM auth_sessions WHERE state = 'active'")).toEqual([]);
    const carols = { where: { username: Like('carol%') }, order: { username: 'ASC' } } as const;
    const created = await app.dataSource.getRepository(AuthUser).find(carols);
    expect(created.map(({ username }) => username)).toEqual(['carol', 'carol 2']);
  });

  it('a transaction can continue after a refused call, and its calls see its changes', async () => {
    const { session, id } = await loggedIn();
    await committed(async (auth) => {
      const carol = await auth.createUser(CAROL);
      await expect(auth.createUser(CAROL)).rejects.toMatchObject({ code: 'username_taken' });
      const { token } = await auth.createPasswordResetToken(carol.id);
      await auth.redeemPasswordResetToken(token, NEW_PASSWORD);
      const unknown = auth.disableUser('1b4e28ba-2fa1-41d2-883f-0016d3cca427');
      await expect(unknown).rejects.toMatchObject({ code: 'unknown_user' });
      await expect(auth.resetPassword(id, 'short')).rejects.toMatchObject({ code: 'invalid_field' });
      await auth.revokeSession(id, session);
    });
    expect(app.sent('user_logged_out')).toHaveLength(1);
    await app.login('carol', NEW_PASSWORD);
  });

  it('a transaction ends sessions even if their events cannot be written', async () => {
    const { token, session, id } = await loggedIn();
    tap.hook.before = ({ sql }) => {
      if (/^INSERT INTO .auth_events/.test(sql)) throw new Error('out of order');
    };
    await committed((auth) => auth.revokeSession(id, session));
    tap.hook = {};
    expect(app.logs.join()).toContain('Lost events: session_revoked');
    await app.get('/me', token).expect(401);
  });

  it('a transaction does not include logins and refreshes that run at the same time', async () => {
    const session = await app.login();
    let meanwhile: Promise<unknown> = Promise.resolve();
    await rolledBack(app.dataSource, async () => {
      meanwhile = Promise.all([app.login('bob'), app.refresh(session.refresh_token).expect(200)]);
      // On SQLite the login and the refresh wait until the transaction ends.
      if (!tap.isSqlite) await meanwhile;
    });
    await meanwhile;
    expect(app.sent('user_logged_in')).toHaveLength(2);
    await app.refresh(session.refresh_token).expect(400);
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
  });

  /** Changes a password in a transaction, which a wrong or short password rolls back. */
  const change = (principal: AuthPrincipal, currentPassword: string, newPassword = NEW_PASSWORD): Promise<unknown> =>
    committed((auth) => auth.changePassword(principal, { currentPassword, newPassword }, { ipAddress: '192.0.2.1' }));

  it('wrong passwords are counted and recorded although their transactions are rolled back', async () => {
    const { principal } = await loggedIn();
    for (let i = 1; i <= 10; i++) {
      await expect(change(principal, 'a wrong password')).rejects.toMatchObject({ code: 'invalid_field' });
      // The count is stored before the rollback returns.
      expect(await failureCounts()).toEqual([i]);
    }
    await committed(async (auth) => {
      const delayed = auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD });
      await expect(delayed).rejects.toMatchObject({ code: 'too_many_attempts' });
    });
    expect(await failureCounts()).toEqual([10]);
    expect(emittedCounts()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(app.sent('login_blocked')).toHaveLength(1);
    const names = In(['login_failure', 'login_blocked']);
    expect(await app.dataSource.getRepository(AuthEvent).countBy({ event: names })).toBe(11);
    app.clock.advance(30_000);
    // The right password ends the streak, although the transaction is rolled back.
    await expect(change(principal, PASSWORD, 'short')).rejects.toMatchObject({ code: 'invalid_field' });
    expect(await failureCounts()).toEqual([]);
  });

  it('the 100th wrong password ends the session although the transaction is rolled back', async () => {
    const { token, session: id, principal } = await loggedIn();
    await expect(change(principal, 'a wrong password')).rejects.toMatchObject({ code: 'invalid_field' });
    await app.dataSource.query('UPDATE auth_login_failures SET failure_count = 99');
    await expect(change(principal, 'a wrong password')).rejects.toMatchObject({ code: 'invalid_field' });
    expect(await app.auth.authenticate(token)).toBeNull();
    expect(app.sent('user_logged_out')).toMatchObject([{ session: { id }, reason: 'failed_reauthentication' }]);
  });

  it('a wrong password is counted once, whether a savepoint around it is rolled back or released', async () => {
    const { principal } = await loggedIn();
    const guess = { currentPassword: 'a wrong password', newPassword: NEW_PASSWORD };
    const guessIn = (manager: EntityManager): Promise<unknown> => callsIn(manager).changePassword(principal, guess);
    const guessTwice = async (manager: EntityManager): Promise<void> => {
      await manager.transaction(guessIn).catch(() => undefined);
      await manager.transaction((nested) => guessIn(nested).catch(() => undefined));
    };
    await app.dataSource.transaction(guessTwice);
    expect(await failureCounts()).toEqual([2]);
    await rolledBack(app.dataSource, guessTwice);
    expect(await failureCounts()).toEqual([4]);
    expect(emittedCounts()).toEqual([1, 2, 3, 4]);
  });

  it('pending calls within a transaction fail when the transaction ends', async () => {
    const ids = [(await loggedIn()).id, (await loggedIn('bob')).id];
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction();
    const auth = callsIn(runner.manager);
    const outcomes = Promise.allSettled(ids.map((id) => auth.resetPassword(id, NEW_PASSWORD)));
    await runner.rollbackTransaction();
    // The next transaction on the same connection does not include the pending calls.
    await runner.startTransaction();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await runner.commitTransaction();
    await runner.release();
    expect(await app.dataSource.query("SELECT id FROM auth_sessions WHERE state <> 'active'")).toEqual([]);
    expect(app.sent('password_reset')).toEqual([]);
    await app.login();
  });

  (name === 'sqlite' ? it.skip : it)(
    'a transaction keeps its lock timeout, and what the application writes after a call that timed out',
    async () => {
      const { session, id } = await loggedIn();
      const locker = app.dataSource.createQueryRunner();
      await locker.startTransaction();
      await locker.query(`SELECT id FROM auth_sessions WHERE id = '${session}' FOR UPDATE`);
      setTimeout(() => void locker.rollbackTransaction().then(() => locker.release()), 300);
      const timeout = DIALECTS[name] === 'postgres' ? 'SHOW lock_timeout' : 'SELECT @@innodb_lock_wait_timeout';
      await app.dataSource.transaction(async (manager) => {
        const own: unknown = await manager.query(timeout);
        const revoked = withDeadline(app, 100, () => callsIn(manager).revokeSession(id, session));
        await expect(revoked).rejects.toMatchObject({ code: 'database_unavailable' });
        await manager.query("UPDATE auth_users SET active = false WHERE username = 'alice'");
        expect(await manager.query(timeout)).toEqual(own);
      });
      expect(await app.dataSource.getRepository(AuthUser).countBy({ username: 'alice', active: false })).toBe(1);
      expect(app.sent('user_logged_out')).toEqual([]);
    },
  );

  it('a transaction includes the calls that a subscriber of the application makes within a call', async () => {
    const tokens: string[] = [];
    const subscriber = {
      listenTo: () => AuthUser,
      afterInsert: async ({ entity, manager }: InsertEvent<AuthUser>) => {
        tokens.push((await callsIn(manager).createPasswordResetToken(entity.id)).token);
      },
    };
    const { subscribers } = app.dataSource;
    subscribers.push(subscriber);
    await committed((auth) => auth.createUser(CAROL)).finally(() =>
      subscribers.splice(subscribers.indexOf(subscriber), 1),
    );
    await app.auth.redeemPasswordResetToken(tokens[0]!, NEW_PASSWORD);
    await app.login('carol', NEW_PASSWORD);
  });

  it('a call fails if the transaction is not open or belongs to another DataSource', async () => {
    expect(() => callsIn(app.dataSource.manager)).toThrow('The manager has no open transaction');
    const late = await committed((auth) => Promise.resolve(auth));
    await expect(late.disableUser(await app.userId())).rejects.toThrow('The transaction of the application has ended');
    const other = await new DataSource(database.options).initialize();
    await other.transaction(async (manager) => expect(() => callsIn(manager)).toThrow('another DataSource'));
    await other.destroy();
  });
});
