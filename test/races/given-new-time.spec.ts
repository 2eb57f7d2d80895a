import { createDatabase, describeEachPooled } from '../support/databases';
import { Host } from '../support/host';
import { Tap } from '../support/tap';

const HOUR = 3_600;

describeEachPooled('a session whose time seems over to a login at its limit, on %s,', (name) => {
  it('goes on where a refresh brought it new time just before', async () => {
    const database = await createDatabase(name);
    const auth = { sessionPolicy: 'max_count', idleTimeoutSeconds: HOUR, refreshTokenTtlSeconds: HOUR } as const;
    const host = await Host.start({ database, auth });
    const other = await Host.start({ database, auth, users: [] });
    const session = await host.login();
    host.clock.advance(HOUR * 1_000);
    other.clock.advance(host.clock.now() - other.clock.now() - 1);
    const tap = new Tap(host);
    let refreshed: { access_token: string } | null = null;
    tap.hook = {
      before: async ({ sql }) => {
        if (refreshed || !/^WITH won|FOR UPDATE$/.test(sql)) return;
        refreshed = (await other.refresh(session.refresh_token).expect(200)).body as { access_token: string };
      },
    };

    await host.login();

    expect(refreshed).not.toBeNull();
    await other.get('/me', refreshed!.access_token).expect(200);
    expect(host.sent('user_logged_out')).toEqual([]);
    await host.close();
    await other.close();
    await database.drop();
  });
});
