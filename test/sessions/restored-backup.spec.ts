import { AuthSession, SessionAdministration } from 'nestjs-session-auth';
import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';

describeOnEachDatabase('a restored backup', {}, (env: TestEnvironment) => {
  it('a session that ended after the backup is active again after the restore, until an administrator ends all sessions', async () => {
    const { app } = env;
    const sessions = app.dataSource.getRepository(AuthSession);
    const { session_id: id, access_token: access, refresh_token: refresh } = await app.login();
    const backup = await sessions.findOneByOrFail({ id });
    await app.post('/auth/logout', access).expect(200);
    await app.get('/me', access).expect(401);
    await sessions.update({ id }, backup);
    await app.get('/me', access).expect(200);

    expect(await app.nest.get(SessionAdministration).end({ everyone: true }, { actor: 'carol (restore)' })).toBe(1);
    await app.get('/me', access).expect(401);
    await app.refresh(refresh).expect(400);
    expect(app.sent('token_reuse_detected')).toEqual([]);
  });
});
