import { createDatabase, describeEachPooled } from '../support/databases';
import { Host } from '../support/host';
import { Tap } from '../support/tap';

const HOUR = 3_600;

describeEachPooled('a session that looks expired to a login at the limit on %s', (name) => {
  it('goes on where a refresh has extended it just before', async () => {
    const database = await createDatabase(name);
    const auth = { sessionPolicy: 'max_count', idleTimeoutSeconds: HOUR, refreshTokenTtlSeconds: HOUR } as const;
    const host = await Host.start({ database, auth: { ...auth, maxSessions: 2 } });
    const other = await Host.start({ database, auth: { ...auth, maxSessions: 2 }, users: [] });
    const [, session] = [await host.login(), await host.login()];
    host.clock.advance(HOUR * 1_000);
    other.clock.advance(host.clock.now() - other.clock.now() - 1);
    const tap = new Tap(host);
    let refreshed: { access_token: string } | null = null;
    tap.hook = {
      before: async ({ sql }) => {
        if (refreshed || !/^SELECT.* FROM .auth_sessions.*FOR UPDATE$/s.test(sql)) return;
        refreshed = (await other.refresh(session.refresh_token).expect(200)).body as { access_token: string };
      },
    };

    await host.login();

    expect(refreshed).not.toBeNull();
    await other.get('/me', refreshed!.access_token).expect(200);
    expect(host.sent('user_logged_out').map((end) => end.session.id)).not.toContain(session.session_id);
    await host.close();
    await other.close();
    await database.drop();
  });
});
