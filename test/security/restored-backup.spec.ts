import { AuthSession, SessionAdministration } from 'nestjs-session-auth';
import { stories, type Stage } from '../e2e/stories';

stories('a session that ended after the backup that is restored', {}, (at: Stage) => {
  it('is active again, and ends when an administrator ends those of everyone', async () => {
    const { host } = at;
    const sessions = host.dataSource.getRepository(AuthSession);
    const { session_id: id, access_token: access, refresh_token: refresh } = await host.login();
    const backup = await sessions.findOneByOrFail({ id });
    await host.post('/auth/logout', access).expect(200);
    await host.get('/me', access).expect(401);
    await sessions.update({ id }, backup);
    await host.get('/me', access).expect(200);

    expect(await host.app.get(SessionAdministration).end({ everyone: true }, { actor: 'carol (restore)' })).toBe(1);
    await host.get('/me', access).expect(401);
    await host.refresh(refresh).expect(400);
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });
});
