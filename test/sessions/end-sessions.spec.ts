import { OpenSockets } from 'nestjs-session-auth';
import { PASSWORD } from '../support/test-application';
import { describeOnEachDatabase } from '../support/environment';

describeOnEachDatabase('endSessions', {}, ({ app }) => {
  it('all sessions and login tickets of the user end with the reason application, and the sessions of other users continue', async () => {
    const [one, two, bob] = [await app.login(), await app.login(), await app.login('bob')];
    const { ticket } = await app.auth.verifyCredentials({ username: 'alice', password: PASSWORD });
    expect(await app.auth.endSessions(await app.userId())).toBe(2);
    await app.expectRevoked(one, two);
    await app.expectLive(bob);
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject({ code: 'invalid_login_ticket' });
    const ids = [one.session_id, two.session_id].sort();
    expect(app.emittedEnds()).toEqual(ids.map((id) => [id, 'application']));
    const entries = await app.history((await app.login()).access_token);
    const ends = entries.filter(({ event }) => event === 'session_revoked').map(({ extra }) => extra);
    expect(ends).toEqual(expect.arrayContaining(ids.map((session_id) => ({ session_id, reason: 'application' }))));
  });

  it('the session that is excepted continues, and an administrator is recorded', async () => {
    const [kept, other] = [await app.login(), await app.login()];
    const options = { except: kept.session_id.toUpperCase(), reason: 'admin', actor: 'carol' } as const;
    expect(await app.auth.endSessions(await app.userId(), options)).toBe(1);
    const [latest] = await app.history(kept.access_token);
    expect(latest!.extra).toEqual({ session_id: other.session_id, reason: 'admin', actor: 'carol' });
  });

  it('nothing ends if the session that is excepted is not an active session of the user', async () => {
    const [ended, bob, active] = [await app.login(), await app.login('bob'), await app.login()];
    await app.post('/auth/logout', ended.access_token).expect(200);
    const id = await app.userId();
    for (const except of [ended.session_id, bob.session_id, '', 'current'])
      await expect(app.auth.endSessions(id, { except })).rejects.toMatchObject({ code: 'session_not_found' });
    await app.expectLive(active);
  });

  it('a password change with keepTokens keeps the tokens, sockets and proofs of the current session, and ends other sessions', async () => {
    const [mine, other] = [await app.login(), await app.login()];
    const principal = await app.principal(mine.access_token);
    const close = jest.fn();
    app.nest.get(OpenSockets).register(principal, close);
    app.clock.advance(60_000);
    const change = { currentPassword: PASSWORD, newPassword: 'a new and better password' };
    expect(await app.auth.changePassword(principal, change, {}, { keepTokens: true })).toBeNull();
    expect(await app.auth.authenticate(mine.access_token)).toEqual(principal);
    await app.expectRevoked(other);
    expect(app.sent('password_changed').map(({ session }) => session?.id)).toEqual([mine.session_id]);
    expect(close).not.toHaveBeenCalled();
    await app.refreshed(mine);
    await app.login('alice', change.newPassword);
    await app.auth.resetPassword(principal.userId, PASSWORD);
  });
});
