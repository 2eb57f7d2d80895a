import { OpenSockets } from 'nestjs-session-auth';
import { PASSWORD } from '../support/test-application';
import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';

describeOnEachDatabase('endSessions', {}, (env: TestEnvironment) => {
  it('all sessions of the user end with the reason application, and those of other users continue', async () => {
    const { app } = env;
    const [one, two, bob] = [await app.login(), await app.login(), await app.login('bob')];
    expect(await app.auth.endSessions(await app.userId())).toBe(2);
    for (const { access_token } of [one, two]) await app.get('/me', access_token).expect(401);
    await app.get('/me', bob.access_token).expect(200);
    const ids = [one.session_id, two.session_id].sort();
    expect(app.emittedEnds()).toEqual(ids.map((id) => [id, 'application']));
    const [, ...entries] = await app.history((await app.login()).access_token);
    for (const session_id of ids)
      expect(entries).toContainEqual(
        expect.objectContaining({ event: 'session_revoked', extra: { session_id, reason: 'application' } }),
      );
  });

  it('the session that is excepted continues, and an administrator is recorded', async () => {
    const { app } = env;
    const [kept, other] = [await app.login(), await app.login()];
    const options = { except: kept.session_id.toUpperCase(), reason: 'admin', actor: 'carol' } as const;
    expect(await app.auth.endSessions(await app.userId(), options)).toBe(1);
    const [latest] = await app.history(kept.access_token);
    expect(latest!.extra).toEqual({ session_id: other.session_id, reason: 'admin', actor: 'carol' });
  });

  it('nothing ends if the session that is excepted is not an active session of the user', async () => {
    const { app } = env;
    const [ended, bob, active] = [await app.login(), await app.login('bob'), await app.login()];
    await app.post('/auth/logout', ended.access_token).expect(200);
    const id = await app.userId();
    for (const except of [ended.session_id, bob.session_id, '', 'current'])
      await expect(app.auth.endSessions(id, { except })).rejects.toMatchObject({ code: 'session_not_found' });
    await app.get('/me', active.access_token).expect(200);
  });

  it('login tickets of the user end', async () => {
    const { app } = env;
    const { ticket } = await app.auth.verifyCredentials({ username: 'alice', password: PASSWORD });
    await app.auth.endSessions(await app.userId());
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject({ code: 'invalid_login_ticket' });
  });

  it('within a transaction, the sessions end at its commit', async () => {
    const { app } = env;
    const { access_token: token } = await app.login();
    const id = await app.userId();
    const rolledBack = app.dataSource.transaction(async (manager) => {
      await app.auth.inTransaction(manager).endSessions(id);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    await app.get('/me', token).expect(200);
    await app.dataSource.transaction((manager) => app.auth.inTransaction(manager).endSessions(id));
    await app.get('/me', token).expect(401);
  });
});

describeOnEachDatabase('a password change with keepTokens', {}, (env: TestEnvironment) => {
  const change = { currentPassword: PASSWORD, newPassword: 'a new and better password' };

  it('the current session keeps its tokens, sockets and proofs, and other sessions end', async () => {
    const { app } = env;
    const [mine, other] = [await app.login(), await app.login()];
    const principal = (await app.auth.authenticate(mine.access_token))!;
    const close = jest.fn();
    app.nest.get(OpenSockets).register(principal, close);
    app.clock.advance(60_000);
    expect(await app.auth.changePassword(principal, change, {}, { keepTokens: true })).toBeNull();
    expect(await app.auth.authenticate(mine.access_token)).toEqual(principal);
    await app.get('/me', other.access_token).expect(401);
    expect(app.sent('password_changed').map(({ session }) => session?.id)).toEqual([mine.session_id]);
    expect(close).not.toHaveBeenCalled();
    await app.refresh(mine.refresh_token).expect(200);
    await app.login('alice', change.newPassword);
    await app.auth.resetPassword(principal.userId, PASSWORD);
  });
});
