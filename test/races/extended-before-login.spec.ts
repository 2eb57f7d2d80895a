import { createDatabase, describeEachPooled } from '../support/databases';
import { TestApplication } from '../support/test-application';
import { Tap } from '../support/tap';

const HOUR = 3_600;

describeEachPooled('a session that a refresh extends during a login at the limit on %s', (name) => {
  it('a session stays active if a refresh extends it just before a login finds it expired', async () => {
    const database = await createDatabase(name);
    const auth = { sessionPolicy: 'max_count', idleTimeoutSeconds: HOUR, refreshTokenTtlSeconds: HOUR } as const;
    const app = await TestApplication.start({ database, auth: { ...auth, maxSessions: 2 } });
    const other = await TestApplication.start({ database, auth: { ...auth, maxSessions: 2 }, users: [] });
    const [, session] = [await app.login(), await app.login()];
    app.clock.advance(HOUR * 1_000);
    other.clock.advance(app.clock.now() - other.clock.now() - 1);
    const tap = new Tap(app);
    let refreshed: { access_token: string } | null = null;
    tap.hook = {
      before: async ({ sql }) => {
        if (refreshed || !/^SELECT.* FROM .auth_sessions.*FOR UPDATE$/s.test(sql)) return;
        refreshed = (await other.refresh(session.refresh_token).expect(200)).body as { access_token: string };
      },
    };

    await app.login();

    expect(refreshed).not.toBeNull();
    await other.get('/me', refreshed!.access_token).expect(200);
    expect(app.sent('user_logged_out').map((end) => end.session.id)).not.toContain(session.session_id);
    await app.close();
    await other.close();
    await database.drop();
  });
});
